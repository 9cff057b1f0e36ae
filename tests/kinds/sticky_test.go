package kinds

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// forLong is longer than any test.
const forLong = time.Hour

// requested counts what a client has asked the servers for, but for checks: heartbeats, and those
// of nodes to reuse.
func requested(p *rig.Proxy) int {
	return p.Operations(rig.OpCreate) + p.Operations(rig.OpDelete) + p.Operations(rig.OpSetData) +
		p.Operations(rig.OpGetData) + p.Operations(rig.OpGetChildren2) + p.Operations(rig.OpGetChildren)
}

// TestStickyCostsNothing: after the first time a sticky lock sends nothing, and each grant has a greater
// token; when the places of the node's transaction are used up there is a new node.
func TestStickyCostsNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		mutex := patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/sticky", locks.WithSticky(forLong))
		node, last := patient.Cycle(t, mutex)
		awaitOperations(t, proxy)
		before := requested(proxy)
		const cycles = 500
		for range cycles {
			again, token := patient.Cycle(t, mutex)
			require.Equal(t, node, again)
			require.Greater(t, token, last)
			require.Equal(t, last.Zxid(), token.Zxid())
			last = token
		}
		require.LessOrEqual(t, requested(proxy)-before, cycles/10, "heartbeats, and checks after pauses of this machine")
		nodes := map[string]bool{node: true}
		for range messages.MaxPlace {
			again, token := patient.Cycle(t, mutex)
			require.Greater(t, token, last)
			nodes[again], last = true, token
		}
		require.Len(t, nodes, 2)
	})
}

// awaitOperations waits until the queue has been read, which says that nobody waits.
func awaitOperations(t *testing.T, p *rig.Proxy) {
	t.Helper()
	patient.Eventually(t, func() bool { return p.Operations(rig.OpGetChildren2)+p.Operations(rig.OpGetChildren) > 0 },
		"the queue was never read")
}

// held shows a lease to the witness, and gives it back.
func held(ctx context.Context, seen *patient.Witness, lease *locks.Lease) error {
	err := seen.Enter(lease)
	seen.Leave()
	return errors.Join(err, lease.Unlock(ctx))
}

// TestStickyGoesToWhoComes: somebody else gets the lock though it is asked for again and again where it sticks; and
// back again.
func TestStickyGoesToWhoComes(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		mine := zk.Open(t).Mutex("/sticky", locks.WithSticky(forLong))
		theirs := zk.Open(t).Mutex("/sticky", locks.WithSticky(forLong))
		seen := &patient.Witness{}
		busy, stop := context.WithCancel(patient.Deadline(t))
		defer stop()
		ended := make(chan error, 1)
		go func() {
			for busy.Err() == nil {
				lease, err := mine.Lock(context.WithoutCancel(busy))
				if err == nil {
					err = held(context.WithoutCancel(busy), seen, lease)
				}
				if err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		for range 20 {
			lease := patient.Locked(t, theirs.Lock)
			require.NoError(t, held(patient.Deadline(t), seen, lease))
		}
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, seen.Most)
		require.IsIncreasing(t, seen.Tokens)
	})
}

// TestStickyIsKeptWhileNobodyComes: the node stays, and goes when somebody comes, of this process or another, or its
// time is over.
func TestStickyIsKeptWhileNobodyComes(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		sticky := client.Mutex("/sticky", locks.WithSticky(forLong))
		for name, comes := range map[string]*locks.Mutex{
			"another client":     other.Mutex("/sticky"),
			"with another label": client.Mutex("/sticky", locks.WithLabel("other")),
		} {
			node, token := patient.Cycle(t, sticky)
			stories.AwaitCount(t, zk, "/sticky", 1)
			next, err := comes.Lock(patient.Deadline(t))
			require.NoError(t, err, name)
			require.NotEqual(t, node, next.Node(), name)
			require.Greater(t, next.Token(), token, name)
			require.NoError(t, next.Unlock(patient.Deadline(t)), name)
			stories.AwaitNone(t, zk, "/sticky")
		}
		patient.Cycle(t, client.Mutex("/sticky", locks.WithSticky(50*time.Millisecond)))
		stories.AwaitNone(t, zk, "/sticky")
		patient.Cycle(t, sticky)
		require.NoError(t, client.Close(patient.Deadline(t)))
		stories.AwaitNone(t, zk, "/sticky")
	})
}

// TestStickyIsKnownByItsFirstName: a waiter within a lease is found by the name that the lease's
// node has.
func TestStickyIsKnownByItsFirstName(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		mutex := client.Mutex("/sticky", locks.WithSticky(forLong))
		patient.Cycle(t, mutex)
		lease := patient.Locked(t, mutex.Lock)
		within, err := client.Mutex("/within").Lock(lease.Context())
		require.NoError(t, err)
		var who []string
		for _, path := range []string{"/sticky", "/within"} {
			queue, err := client.Queue(patient.Deadline(t), path)
			require.NoError(t, err)
			require.Len(t, queue, 1)
			who = append(who, queue[0].Who)
		}
		require.Equal(t, who[0], who[1])
		patient.GiveBack(t, within, lease)
	})
}
