package tests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// oddKeys are strings that make no name of a node by themselves, and some that look like the names of others.
var oddKeys = []string{
	"", ".", "..", "zookeeper", "a", "a/b", "a%2Fb", "/", "a\x00b", "\xff", "\ufffd", "😀", " a ", "lock-0000000001",
	"_c_0-lock-0000000001", strings.Repeat("x", 128), strings.Repeat("x", 10_000), strings.Repeat("x", 10_001),
}

// TestKeyed: any string is a key, and every one has a lock of its own, which the tree of locks shows with one holder. One
// client's key is the other's.
func TestKeyed(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		mine := open(t, zk.Connect()).Keyed("/keyed/all", locks.WithLabel("mine"))
		client := open(t, zk.Connect())
		others := client.Keyed("/keyed/all")
		var held []*locks.Lease
		for _, key := range oddKeys {
			lease, err := mine.TryLock(deadline(t), key)
			require.NoError(t, err, "%.40q", key)
			require.Equal(t, mine.Path(key), lease.Path())
			held = append(held, lease)
		}
		for _, key := range oddKeys {
			_, err := others.TryLock(deadline(t), key)
			require.ErrorIs(t, err, locks.ErrNotAcquired, "%.40q", key)
		}
		tree, err := client.Locks(deadline(t), "/keyed/all")
		require.NoError(t, err)
		require.Len(t, tree.Locks, len(oddKeys))
		for _, l := range tree.Locks {
			require.Equal(t, 1, l.Holders, l.Path)
			require.Equal(t, 0, l.Waiters, l.Path)
			t.Log(l.Path)
		}
		for i, key := range oddKeys {
			waits := elsewhere(deadline(t), func(ctx context.Context) (*locks.Lease, error) { return others.Lock(ctx, key) })
			require.NoError(t, held[i].Unlock(deadline(t)))
			next := receive(t, waits)
			require.NoError(t, next.err, "%.40q", key)
			require.Greater(t, next.lease.Token(), held[i].Token())
			require.NoError(t, next.lease.Unlock(deadline(t)))
		}
	})
}

// TestKeyedWithDo: the lock of a key is a Mutex, for whatever takes one.
func TestKeyedWithDo(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		keyed := open(t, zk.Connect()).Keyed("/")
		require.NoError(t, locks.Do(deadline(t), keyed.Mutex("a/b"), func(ctx context.Context, _ locks.Token) error {
			require.Equal(t, "/a%2Fb", locks.LeaseOf(ctx).Path())
			return locks.Do(ctx, keyed.Mutex(""), func(ctx context.Context, _ locks.Token) error {
				_, err := keyed.Lock(ctx, "a/b")
				require.ErrorIs(t, err, locks.ErrReentry)
				return nil
			})
		}))
	})
}

// TestKeyedRefusesABadRoot: as a Mutex does, and nothing is sent.
func TestKeyedRefusesABadRoot(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		for _, root := range []string{"", "keys", "/keys/", "//", "/a/../b", "/a\x00", "/zookeeper"} {
			_, err := client.Keyed(root).Lock(deadline(t), "key")
			require.ErrorIs(t, err, locks.ErrBadPath, root)
			_, err = client.Keyed(root).TryLock(deadline(t), "key")
			require.ErrorIs(t, err, locks.ErrBadPath, root)
			require.ErrorIs(t, client.Keyed(root).ByName().Lock(deadline(t), "key"), locks.ErrBadPath, root)
		}
	})
}

// TestKeyedWeighsLittle: what a key adds to the transaction that ends its session is bounded, however long the key is. So
// as many as the doc says can be held at once, and the next one is refused before it is sent.
func TestKeyedWeighsLittle(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		const bound = 20_000 // 512 KiB without it
		client := open(t, zk.Hosts(), locks.WithMaxNodeBytes(bound))
		const root = "/a-root-of-20-bytes/"
		keyed := client.Keyed(strings.TrimSuffix(root, "/"))
		held := 0
		for {
			lease, err := keyed.TryLock(deadline(t), fmt.Sprintf("%d%s", held, strings.Repeat("/", 10_000)))
			if err != nil {
				require.ErrorIs(t, err, locks.ErrSessionFull)
				break
			}
			defer lease.Release()
			require.LessOrEqual(t, len(lease.Path()), len(root)+128)
			held++
		}
		require.Greater(t, held*(512<<10)/bound, 2400)
		t.Logf("%d keys of 10 kB in %d bytes, %d in 512 KiB", held, bound, held*(512<<10)/bound)
	})
}

// TestOnLostOfOtherLocks: they tell their paths.
func TestOnLostOfOtherLocks(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		told := make(chan string, 10)
		client := open(t, zk.Connect())
		mutex := client.Mutex("/told", locks.WithMaxHold(time.Millisecond), locks.WithOnLost(func(key string, err error) {
			told <- fmt.Sprint(key, " ", errors.Is(err, locks.ErrMaxHold))
		}))
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		<-lease.Context().Done()
		require.Equal(t, "/told true", <-told)
		cycle(t, client.Mutex("/told"))
		require.Empty(t, told)
	})
}
