package kinds

import (
	"context"
	"errors"
	"slices"
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
		mine := patient.Open(t, zk.Connect()).Mutex("/sticky", locks.WithSticky(forLong))
		theirs := patient.Open(t, zk.Connect()).Mutex("/sticky", locks.WithSticky(forLong))
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
			lease, err := theirs.Lock(patient.Deadline(t))
			require.NoError(t, err)
			require.NoError(t, held(patient.Deadline(t), seen, lease))
		}
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, seen.Most)
		require.IsIncreasing(t, seen.Tokens)
	})
}

// TestStickyIsRetainedWhileNobodyComes: the node stays, and goes when somebody comes, of this process or another, or its
// time is over.
func TestStickyIsRetainedWhileNobodyComes(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := patient.Open(t, zk.Connect()), patient.Open(t, zk.Connect())
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

// TestStickyGivesWayToATry: one that tries for the lock without WithSticky finds it free where it is only
// kept.
func TestStickyGivesWayToATry(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := patient.Open(t, zk.Connect())
		node, token := patient.Cycle(t, client.Mutex("/sticky", locks.WithSticky(forLong)))
		lease, err := client.Mutex("/sticky").TryLock(patient.Deadline(t))
		require.NoError(t, err)
		require.NotEqual(t, node, lease.Node())
		require.Greater(t, lease.Token(), token)
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		stories.AwaitNone(t, zk, "/sticky")
	})
}

// TestStickyManyWorkers: workers of one session and another share a lock that sticks to both.
func TestStickyManyWorkers(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		seen := &patient.Witness{}
		const workers, rounds = 4, 50
		errs := make(chan error, 2*workers)
		for range 2 {
			mutex := patient.Open(t, zk.Connect()).Mutex("/sticky", locks.WithSticky(forLong))
			for range workers {
				ctx := patient.Deadline(t)
				go func() {
					for range rounds {
						lease, err := mutex.Lock(ctx)
						if err == nil {
							err = held(ctx, seen, lease)
						}
						if err != nil {
							errs <- err
							return
						}
					}
					errs <- nil
				}()
			}
		}
		for range 2 * workers {
			require.NoError(t, <-errs)
		}
		require.Equal(t, 1, seen.Most)
		require.IsIncreasing(t, seen.Tokens)
	})
}

// TestStickyOverACut: a node that is kept outlives a cut, as one that is held does. It goes when somebody comes, before
// the connection is back or after.
func TestStickyOverACut(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		other := patient.Open(t, zk.Connect()).Mutex("/sticky")
		changes := &patient.Changes{}
		mutex := client.Mutex("/sticky", locks.WithSticky(forLong), locks.WithOnChange(changes.Hear))
		node, token := patient.Cycle(t, mutex)
		awaitOperations(t, proxy)
		proxy.Cut()
		again, next := patient.Cycle(t, mutex)
		require.Equal(t, node, again)
		require.Greater(t, next, token)

		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		require.Greater(t, lease.Token(), next)
		proxy.Cut()
		patient.Eventually(t, func() bool { return slices.Contains(changes.Kinds(), locks.Resumed) }, // else it would not be kept
			"the lease is resumed")
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		proxy.Refuse(true)
		proxy.Cut()
		came := patient.Elsewhere(patient.Deadline(t), other.Lock)
		stories.AwaitCount(t, zk, "/sticky", 2)
		proxy.Refuse(false)
		got := patient.Receive(t, came)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), lease.Token())
		require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
	})
}

// TestStickyNodeIsDeleted by an operator: once the client has had an answer of the servers since, it
// has heard of that. The next call has another node, and stands behind contenders that have come.
func TestStickyNodeIsDeleted(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, operator := patient.Open(t, zk.Connect()), zk.Raw(t)
		mutex := client.Mutex("/sticky", locks.WithSticky(forLong))
		other := patient.Open(t, zk.Connect()).Mutex("/sticky")
		for range 10 {
			node, token := patient.Cycle(t, mutex)
			require.NoError(t, operator.Delete(zk.Root()+"/sticky/"+node, -1))
			held, err := other.Lock(patient.Deadline(t))
			require.NoError(t, err)
			require.Greater(t, held.Token(), token)
			_, err = client.Queue(patient.Deadline(t), "/sticky")
			require.NoError(t, err)
			got := patient.Elsewhere(patient.Deadline(t), mutex.Lock)
			require.NoError(t, held.Unlock(patient.Deadline(t)))
			answered := patient.Receive(t, got)
			require.NoError(t, answered.Err)
			next := answered.Lease
			require.NotEqual(t, node, next.Node())
			require.Greater(t, next.Token(), held.Token())
			require.NoError(t, next.Unlock(patient.Deadline(t)))
		}
	})
}

// TestStickyIsKnownByItsFirstName: a waiter within a lease is found by the name that the lease's
// node has.
func TestStickyIsKnownByItsFirstName(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := patient.Open(t, zk.Connect())
		mutex := client.Mutex("/sticky", locks.WithSticky(forLong))
		patient.Cycle(t, mutex)
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
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
		require.NoError(t, within.Unlock(patient.Deadline(t)))
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
	})
}

// TestStickyAfterRevokeRequest: a revoke request is for the holder that it found, not for the next one of the node.
func TestStickyAfterRevokeRequest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := patient.Open(t, zk.Connect())
		mutex := client.Mutex("/sticky", locks.WithSticky(forLong), locks.WithGrace(forLong))
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		_, err = patient.Open(t, zk.Connect()).Revoke(patient.Deadline(t), "/sticky")
		require.NoError(t, err)
		select {
		case <-lease.Revoked():
		case <-patient.Deadline(t).Done():
			t.Fatal("it was never asked")
		}
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		next, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		require.NotEqual(t, lease.Node(), next.Node(), "a node that says that the lock is wanted back")
		require.NoError(t, next.Unlock(patient.Deadline(t)))
	})
}

// TestRetainedNodeGoesWhenRevokeIsRequested: a retained node goes when somebody asks for the lock.
func TestRetainedNodeGoesWhenRevokeIsRequested(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		node, _ := patient.Cycle(t, patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/sticky", locks.WithSticky(forLong)))
		awaitOperations(t, proxy)
		other := patient.Open(t, zk.Connect())
		queue, err := other.Queue(patient.Deadline(t), "/sticky")
		require.NoError(t, err)
		require.Len(t, queue, 1)
		require.Equal(t, node, queue[0].Node)
		_, err = other.Revoke(patient.Deadline(t), "/sticky")
		require.NoError(t, err)
		patient.Eventually(t, func() bool {
			queue, err := other.Queue(patient.Deadline(t), "/sticky")
			return err == nil && len(queue) == 0
		}, "the node goes")
	})
}
