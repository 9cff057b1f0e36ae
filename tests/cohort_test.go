package tests

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// openLongest opens a client whose cohorts do not end because the machine is slow: half a minute after the first grant.
func openLongest(t *testing.T, at *servers) *locks.Client {
	t.Helper()
	return open(t, at.Connect(), locks.WithSessionTimeout(longest))
}

// cohortOf is as many waiters of one client, each of which waits before the next asks.
func cohortOf(t *testing.T, client *locks.Client, path string, n, grants int) []<-chan answer {
	t.Helper()
	var all []<-chan answer
	for range n {
		rec := recorder(t, client)
		all = append(all, elsewhere(deadline(t), client.Mutex(path, locks.WithCohort(grants), observedBy(rec)).Lock))
		await(t, rec, messages.StateWatching)
	}
	return all
}

// TestCohortIsOneNode: those that wait behind the node of their own client have none, hold in the order in which they came,
// each with a greater token, and there is a new node after as many grants as were asked for.
func TestCohortIsOneNode(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		const waiters, grants = 30, 8
		client, raw := openLongest(t, at), at.Raw(t)
		lease, err := client.Mutex("/cohort", locks.WithCohort(grants)).Lock(deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/cohort", waiters, grants)
		require.Len(t, at.Children(t, raw, "/cohort"), 1)
		tokens, nodes := []messages.Token{lease.Token()}, map[string]int{lease.Node(): 1}
		for _, next := range waiting {
			require.NoError(t, lease.Unlock(deadline(t)))
			got := receive(t, next)
			require.NoError(t, got.err)
			lease = got.lease
			require.True(t, lease.Valid())
			tokens = append(tokens, lease.Token())
			nodes[lease.Node()]++
		}
		require.NoError(t, lease.Unlock(deadline(t)))
		require.IsIncreasing(t, tokens)
		for node, times := range nodes {
			require.LessOrEqual(t, times, grants, node)
		}
		require.Less(t, len(nodes), waiters, "nodes were passed on")
		eventually(t, func() bool { return len(at.Children(t, raw, "/cohort")) == 0 }, "a node is left")
	})
}

// TestCohortGivesOthersTheirTurn: a client of Turnstile without cohorts, and go-zookeeper's Lock, which queue behind a client that
// wants the lock all the time, have it within one cohort.
func TestCohortGivesOthersTheirTurn(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		const workers, grants = 6, 5
		busy, other, o := open(t, at.Connect()), open(t, at.Connect()), look(t, at)
		ctx, stop := context.WithCancel(deadline(t))
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
		eventually(t, func() bool { return granted.Load() > 2*grants }, "nobody holds")
		for range 10 {
			rec := recorder(t, other)
			got := elsewhere(deadline(t), other.Mutex("/fair", observedBy(rec)).Lock)
			eventually(t, func() bool { return len(rec.States()) > 1 }, "it never has its node")
			before := granted.Load()
			next := receive(t, got)
			require.NoError(t, next.err)
			// The cohort at hand, and one more where its node was made just before.
			require.LessOrEqual(t, granted.Load()-before, int64(2*grants+1))
			require.NoError(t, next.lease.Unlock(deadline(t)))
		}
		for range 5 {
			outside := lockOutside(o, "/fair")
			outside.hold(t)
			require.NoError(t, outside.Unlock())
		}
	})
}

// TestCohortWhoLeadsGivesUp: the request whose node waits for another client leaves node and place to the next.
func TestCohortWhoLeadsGivesUp(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two, raw := open(t, at.Connect()), openLongest(t, at), at.Raw(t)
		first, err := one.Mutex("/place").Lock(deadline(t))
		require.NoError(t, err)
		ctx, giveUp := context.WithCancel(deadline(t))
		rec := recorder(t, two)
		leads := elsewhere(ctx, two.Mutex("/place", locks.WithCohort(4), observedBy(rec)).Lock)
		await(t, rec, messages.StateWatching)
		waiting := cohortOf(t, two, "/place", 2, 4)
		nodes := at.Children(t, raw, "/place")
		require.Len(t, nodes, 2)
		third := elsewhere(deadline(t), one.Mutex("/place").Lock)
		awaitCount(t, at, "/place", 3)

		giveUp()
		require.ErrorIs(t, receive(t, leads).err, context.Canceled)
		require.NoError(t, first.Unlock(deadline(t)))
		for _, next := range waiting {
			got := receive(t, next)
			require.NoError(t, got.err)
			require.Contains(t, nodes, got.lease.Node(), "it is the node of the one that gave up")
			require.NoError(t, got.lease.Unlock(deadline(t)))
		}
		last := receive(t, third)
		require.NoError(t, last.err)
		require.NoError(t, last.lease.Unlock(deadline(t)))
	})
}

// TestCohortTriesAndGivesUp: who only tries does not wait, and a waiter that gives up leaves nothing.
func TestCohortTriesAndGivesUp(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, raw := openLongest(t, at), at.Raw(t)
		mutex := client.Mutex("/try", locks.WithCohort(4))
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		_, err = mutex.TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		ctx, cancel := context.WithCancel(deadline(t))
		rec := recorder(t, client)
		got := elsewhere(ctx, client.Mutex("/try", locks.WithCohort(4), observedBy(rec)).Lock)
		await(t, rec, messages.StateWatching)
		cancel()
		require.ErrorIs(t, receive(t, got).err, context.Canceled)
		require.Len(t, at.Children(t, raw, "/try"), 1)
		require.NoError(t, lease.Unlock(deadline(t)))
		again, err := mutex.TryLock(deadline(t))
		require.NoError(t, err)
		require.NoError(t, again.Unlock(deadline(t)))
	})
}

// TestCohortIsBroken: an operator who deletes the node in mid-cohort takes the lock from whoever holds; those that wait
// get it with a node of their own, and a greater token.
func TestCohortIsBroken(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, raw := openLongest(t, at), at.Raw(t)
		first, err := client.Mutex("/broken", locks.WithCohort(8)).Lock(deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/broken", 3, 8)
		require.NoError(t, first.Unlock(deadline(t)))
		second := receive(t, waiting[0])
		require.NoError(t, second.err)
		require.Equal(t, first.Node(), second.lease.Node())
		require.NoError(t, raw.Delete(at.Root()+"/broken/"+second.lease.Node(), -1))
		awaitLost(t, second.lease)
		last := second.lease.Token()
		for _, next := range waiting[1:] {
			got := receive(t, next)
			require.NoError(t, got.err)
			require.NotEqual(t, first.Node(), got.lease.Node())
			require.Greater(t, got.lease.Token(), last)
			last = got.lease.Token()
			require.NoError(t, got.lease.Unlock(deadline(t)))
		}
	})
}

// TestCohortIsRevoked: a holder in mid-cohort is asked for the lock, and its cohort ends with it.
func TestCohortIsRevoked(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, other := openLongest(t, at), open(t, at.Connect())
		first, err := client.Mutex("/wanted", locks.WithCohort(100)).Lock(deadline(t))
		require.NoError(t, err)
		waiting := cohortOf(t, client, "/wanted", 2, 100)
		require.NoError(t, first.Unlock(deadline(t)))
		second := receive(t, waiting[0])
		require.NoError(t, second.err)
		theirs := elsewhere(deadline(t), other.Mutex("/wanted").Lock)
		awaitCount(t, at, "/wanted", 2)
		_, err = other.Revoke(deadline(t), "/wanted")
		require.NoError(t, err)
		awaitAsked(t, second.lease)
		require.NoError(t, second.lease.Unlock(deadline(t)))
		got := receive(t, theirs)
		require.NoError(t, got.err, "the other client has its turn")
		require.NoError(t, got.lease.Unlock(deadline(t)))
		third := receive(t, waiting[1])
		require.NoError(t, third.err)
		require.Greater(t, third.lease.Token(), got.lease.Token())
		require.NoError(t, third.lease.Unlock(deadline(t)))
	})
}
