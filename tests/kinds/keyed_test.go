package kinds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// oddKeys are strings that make no name of a node by themselves, and some that look like the names of others.
var oddKeys = []string{
	"", ".", "..", "zookeeper", "a", "a/b", "a%2Fb", "/", "a\x00b", "\xff", "\ufffd", "😀", " a ", "lock-0000000001",
	"_c_0-lock-0000000001", strings.Repeat("x", 128), strings.Repeat("x", 10_000), strings.Repeat("x", 10_001),
}

// TestKeyed: any string is a key, and every one has a lock of its own, which the tree of locks shows with one holder. One
// client's key is the other's.
func TestKeyed(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		mine := zk.Open(t).Keyed("/keyed/all", locks.WithLabel("mine"))
		client := zk.Open(t)
		others := client.Keyed("/keyed/all")
		var held []*locks.Lease
		for _, key := range oddKeys {
			lease, err := mine.TryLock(patient.Deadline(t), key)
			require.NoError(t, err, "%.40q", key)
			require.Equal(t, mine.Path(key), lease.Path())
			held = append(held, lease)
		}
		for _, key := range oddKeys {
			_, err := others.TryLock(patient.Deadline(t), key)
			require.ErrorIs(t, err, locks.ErrNotAcquired, "%.40q", key)
		}
		tree, err := client.Locks(patient.Deadline(t), "/keyed/all")
		require.NoError(t, err)
		require.Len(t, tree.Locks, len(oddKeys))
		for _, l := range tree.Locks {
			require.Equal(t, 1, l.Holders, l.Path)
			require.Equal(t, 0, l.Waiters, l.Path)
			t.Log(l.Path)
		}
		for i, key := range oddKeys {
			waits := patient.Elsewhere(patient.Deadline(t), func(ctx context.Context) (*locks.Lease, error) { return others.Lock(ctx, key) })
			patient.GiveBack(t, held[i])
			next := patient.Receive(t, waits)
			require.NoError(t, next.Err, "%.40q", key)
			require.Greater(t, next.Lease.Token(), held[i].Token())
			patient.GiveBack(t, next.Lease)
		}
	})
}

// TestKeyedWithDo: the lock of a key is a Mutex, for all functions that take one.
func TestKeyedWithDo(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		keyed := zk.Open(t).Keyed("/")
		require.NoError(t, locks.Do(patient.Deadline(t), keyed.Mutex("a/b"), func(ctx context.Context, _ locks.Token) error {
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
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for _, root := range []string{"", "keys", "/keys/", "//", "/a/../b", "/a\x00", "/zookeeper"} {
			_, err := client.Keyed(root).Lock(patient.Deadline(t), "key")
			require.ErrorIs(t, err, locks.ErrBadPath, root)
			_, err = client.Keyed(root).TryLock(patient.Deadline(t), "key")
			require.ErrorIs(t, err, locks.ErrBadPath, root)
			require.ErrorIs(t, client.Keyed(root).ByName().Lock(patient.Deadline(t), "key"), locks.ErrBadPath, root)
		}
	})
}

// TestKeyedWeighsLittle: what a key adds to the transaction that ends its session is bounded, however long the key is. So
// as many as the doc says can be held at once, and the next one is refused before it is sent.
func TestKeyedWeighsLittle(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const bound = 20_000 // 512 KiB without it
		client := patient.Open(t, zk.Hosts(), locks.WithMaxNodeBytes(bound))
		const root = "/a-root-of-20-bytes/"
		keyed := client.Keyed(strings.TrimSuffix(root, "/"))
		held := 0
		for {
			lease, err := keyed.TryLock(patient.Deadline(t), fmt.Sprintf("%d%s", held, strings.Repeat("/", 10_000)))
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
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		told := make(chan string, 10)
		client := zk.Open(t)
		mutex := client.Mutex("/told", locks.WithMaxHold(time.Millisecond), locks.WithOnLost(func(key string, err error) {
			told <- fmt.Sprint(key, " ", errors.Is(err, locks.ErrMaxHold))
		}))
		lease := patient.Locked(t, mutex.Lock)
		<-lease.Context().Done()
		require.Equal(t, "/told true", <-told)
		patient.Cycle(t, client.Mutex("/told"))
		require.Empty(t, told)
	})
}
