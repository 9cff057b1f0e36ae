package kinds

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// oddKeys are strings that make no name of a node by themselves, and some that look like the names of others.
var oddKeys = []string{
	"", ".", "..", "zookeeper", "a", "a/b", "a%2Fb", "/", "a\x00b", "\xff", "\ufffd", "😀", " a ", "lock-0000000001",
	"_c_0-lock-0000000001", strings.Repeat("x", 128), strings.Repeat("x", 10_000), strings.Repeat("x", 10_001),
}

// TestKeyed: any string is a key, and every one has a lock of its own, which the tree of locks shows with one holder. One
// client's key is the other's. The lock of a key is a Mutex, for all functions that take one.
func TestKeyed(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	mine, others := zk.Open(t).Keyed("/all", locks.WithLabel("mine")), client.Keyed("/all")
	var held []*locks.Lease
	for _, key := range oddKeys {
		lease, err := mine.TryLock(scene.Deadline(t), key)
		require.NoError(t, err, "%.40q", key)
		require.Equal(t, mine.Path(key), lease.Path())
		held = append(held, lease)
	}
	tree, err := client.Locks(scene.Deadline(t), "/all")
	require.NoError(t, err)
	require.Len(t, tree.Locks, len(oddKeys))
	for i, key := range oddKeys {
		require.Equal(t, 1, tree.Locks[i].Holders, tree.Locks[i].Path)
		_, err := others.TryLock(scene.Deadline(t), key)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "%.40q", key)
		scene.GiveBack(t, held[i])
		next, err := others.Lock(scene.Deadline(t), key)
		require.NoError(t, err, "%.40q", key)
		require.Greater(t, next.Token(), held[i].Token())
		scene.GiveBack(t, next)
	}
	keyed := client.Keyed("/")
	require.NoError(t, locks.Do(scene.Deadline(t), keyed.Mutex("a/b"), func(ctx context.Context, _ locks.Token) error {
		require.Equal(t, "/a%2Fb", locks.LeaseOf(ctx).Path())
		_, err := keyed.Lock(ctx, "a/b")
		require.ErrorIs(t, err, locks.ErrReentry)
		return nil
	}))
	for _, root := range []string{"", "keys", "/keys/", "/zookeeper"} {
		for _, err := range []error{locks.Do(scene.Deadline(t), client.Keyed(root).Mutex("key"), nil),
			client.Keyed(root).ByName().Lock(scene.Deadline(t), "key")} {
			require.ErrorIs(t, err, locks.ErrBadPath, root)
		}
	}
}

// TestKeyedWeighsLittle: what a key adds to the transaction that ends its session is bounded, however long the key is. So
// as many as the doc says can be held at once, and the next one is refused before it is sent.
func TestKeyedWeighsLittle(t *testing.T) {
	const bound, root = 20_000, "/a-root-of-20-bytes" // 512 KiB without it
	keyed := scene.Open(t, scene.OnEmbedded(t).Hosts(), locks.WithMaxNodeBytes(bound)).Keyed(root)
	held := 0
	for {
		lease, err := keyed.TryLock(scene.Deadline(t), fmt.Sprintf("%d%s", held, strings.Repeat("/", 10_000)))
		if err != nil {
			require.ErrorIs(t, err, locks.ErrSessionFull)
			break
		}
		defer lease.Release()
		require.LessOrEqual(t, len(lease.Path()), len(root)+1+128)
		held++
	}
	require.Greater(t, held*(512<<10)/bound, 2400)
}
