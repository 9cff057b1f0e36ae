package kinds

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// openLongest opens a client whose cohorts do not end because the machine is slow: half a minute after the first grant.
func openLongest(t *testing.T, at *stories.Servers) *locks.Client {
	t.Helper()
	return patient.Open(t, at.Connect(), locks.WithSessionTimeout(stories.Longest))
}

// cohortOf is as many waiters of one client, each of which waits before the next asks.
func cohortOf(t *testing.T, client *locks.Client, path string, n, grants int) []<-chan patient.Answer {
	t.Helper()
	return moreOf(t, client, path, 0, n, grants)
}

// moreOf is cohortOf where some wait already.
func moreOf(t *testing.T, client *locks.Client, path string, before, n, grants int) []<-chan patient.Answer {
	t.Helper()
	var all []<-chan patient.Answer
	for i := range n {
		all = append(all, patient.Elsewhere(patient.Deadline(t), client.Mutex(path, locks.WithCohort(grants)).Lock))
		patient.AwaitWaiting(t, client, path, before+i+1)
	}
	return all
}

// TestCohortIsOneNode: calls that a node of their client may serve have no node of their own. They
// hold in the order in which they came, each with a greater token. After as many grants as were asked
// for there is a new node.
func TestCohortIsOneNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		const waiters, grants = 30, 8
		client, raw := openLongest(t, at), at.Raw(t)
		lease, err := client.Mutex("/cohort", locks.WithCohort(grants)).Lock(patient.Deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/cohort", waiters, grants)
		require.Len(t, at.Children(t, raw, "/cohort"), 4, "one for each run of calls that it may serve")
		tokens, nodes := []messages.Token{lease.Token()}, map[string]int{lease.Node(): 1}
		for _, next := range waiting {
			require.NoError(t, lease.Unlock(patient.Deadline(t)))
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			lease = got.Lease
			require.True(t, lease.Valid())
			tokens = append(tokens, lease.Token())
			nodes[lease.Node()]++
		}
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		require.IsIncreasing(t, tokens)
		for node, times := range nodes {
			require.LessOrEqual(t, times, grants, node)
		}
		require.Less(t, len(nodes), waiters, "nodes were passed on")
		patient.Eventually(t, func() bool { return len(at.Children(t, raw, "/cohort")) == 0 }, "a node is left")
	})
}

// TestCohortGivesOthersTheirTurn: a client of Turnstile without cohorts, and go-zookeeper's Lock, which queue behind a client that
// wants the lock all the time, have it within one cohort.
func TestCohortGivesOthersTheirTurn(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		const workers, grants = 6, 5
		busy, other, o := patient.Open(t, at.Connect()), patient.Open(t, at.Connect()), stories.Look(t, at)
		ctx, stop := context.WithCancel(patient.Deadline(t))
		var granted atomic.Int64
		var working sync.WaitGroup
		for range workers {
			working.Go(func() {
				for ctx.Err() == nil {
					lease, err := busy.Mutex("/fair", locks.WithCohort(grants)).Lock(ctx)
					if err != nil {
						return
					}
					granted.Add(1)
					_ = lease.Unlock(context.WithoutCancel(ctx))
				}
			})
		}
		defer working.Wait()
		defer stop()
		patient.Eventually(t, func() bool { return granted.Load() > 2*grants }, "nobody holds")
		for range 10 {
			rec := patient.Recorder(t, other)
			got := patient.Elsewhere(patient.Deadline(t), other.Mutex("/fair", patient.ObservedBy(rec)).Lock)
			patient.Eventually(t, func() bool { return len(rec.States()) > 1 }, "it never has its node")
			before := granted.Load()
			next := patient.Receive(t, got)
			require.NoError(t, next.Err)
			// The cohort at hand, and one more where its node was made just before.
			require.LessOrEqual(t, granted.Load()-before, int64(2*grants+1))
			require.NoError(t, next.Lease.Unlock(patient.Deadline(t)))
		}
		for range 5 {
			outside := stories.LockOutside(o, "/fair")
			outside.Hold(t)
			require.NoError(t, outside.Unlock())
		}
	})
}

// TestCohortWhoLeadsGivesUp: the request whose node waits for another client leaves node and place to the next.
func TestCohortWhoLeadsGivesUp(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, raw := patient.Open(t, at.Connect()), openLongest(t, at), at.Raw(t)
		first, err := one.Mutex("/place").Lock(patient.Deadline(t))
		require.NoError(t, err)
		ctx, giveUp := context.WithCancel(patient.Deadline(t))
		leads := patient.Elsewhere(ctx, two.Mutex("/place", locks.WithCohort(4)).Lock)
		patient.AwaitWaiting(t, two, "/place", 1)
		waiting := moreOf(t, two, "/place", 1, 2, 4)
		nodes := at.Children(t, raw, "/place")
		require.Len(t, nodes, 2)
		third := patient.Elsewhere(patient.Deadline(t), one.Mutex("/place").Lock)
		stories.AwaitCount(t, at, "/place", 3)

		giveUp()
		require.ErrorIs(t, patient.Receive(t, leads).Err, context.Canceled)
		require.NoError(t, first.Unlock(patient.Deadline(t)))
		for _, next := range waiting {
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			require.Contains(t, nodes, got.Lease.Node(), "it is the node of the one that gave up")
			require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
		}
		last := patient.Receive(t, third)
		require.NoError(t, last.Err)
		require.NoError(t, last.Lease.Unlock(patient.Deadline(t)))
	})
}

// TestCohortTriesAndGivesUp: a request that only tries does not wait, and a waiter that gives up leaves nothing.
func TestCohortTriesAndGivesUp(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, raw := openLongest(t, at), at.Raw(t)
		mutex := client.Mutex("/try", locks.WithCohort(4))
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		_, err = mutex.TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		ctx, cancel := context.WithCancel(patient.Deadline(t))
		got := patient.Elsewhere(ctx, client.Mutex("/try", locks.WithCohort(4)).Lock)
		patient.AwaitInside(t, client, 1)
		cancel()
		require.ErrorIs(t, patient.Receive(t, got).Err, context.Canceled)
		require.Len(t, at.Children(t, raw, "/try"), 1)
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		again, err := mutex.TryLock(patient.Deadline(t))
		require.NoError(t, err)
		require.NoError(t, again.Unlock(patient.Deadline(t)))
	})
}

// TestCohortIsBroken: an operator who deletes the node in mid-cohort takes the lock from the
// holder. The waiters get it with another node, and a greater token.
func TestCohortIsBroken(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, raw := openLongest(t, at), at.Raw(t)
		first, err := client.Mutex("/broken", locks.WithCohort(8)).Lock(patient.Deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/broken", 3, 8)
		require.NoError(t, first.Unlock(patient.Deadline(t)))
		second := patient.Receive(t, waiting[0])
		require.NoError(t, second.Err)
		require.Equal(t, first.Node(), second.Lease.Node())
		require.NoError(t, raw.Delete(at.Root()+"/broken/"+second.Lease.Node(), -1))
		patient.AwaitLost(t, second.Lease)
		last := second.Lease.Token()
		for _, next := range waiting[1:] {
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			require.NotEqual(t, first.Node(), got.Lease.Node())
			require.Greater(t, got.Lease.Token(), last)
			last = got.Lease.Token()
			require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
		}
	})
}

// TestCohortIsRevoked: a holder in mid-cohort is asked for the lock, and its cohort ends with it.
func TestCohortIsRevoked(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := openLongest(t, at), patient.Open(t, at.Connect())
		first, err := client.Mutex("/wanted", locks.WithCohort(100)).Lock(patient.Deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/wanted", 2, 100)
		require.NoError(t, first.Unlock(patient.Deadline(t)))
		second := patient.Receive(t, waiting[0])
		require.NoError(t, second.Err)
		theirs := patient.Elsewhere(patient.Deadline(t), other.Mutex("/wanted").Lock)
		stories.AwaitCount(t, at, "/wanted", 2)
		_, err = other.Revoke(patient.Deadline(t), "/wanted")
		require.NoError(t, err)
		patient.AwaitAsked(t, second.Lease)
		require.NoError(t, second.Lease.Unlock(patient.Deadline(t)))
		got := patient.Receive(t, theirs)
		require.NoError(t, got.Err, "the other client has its turn")
		require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
		third := patient.Receive(t, waiting[1])
		require.NoError(t, third.Err)
		require.Greater(t, third.Lease.Token(), got.Lease.Token())
		require.NoError(t, third.Lease.Unlock(patient.Deadline(t)))
	})
}
