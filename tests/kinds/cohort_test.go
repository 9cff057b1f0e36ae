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
	return at.Open(t, locks.WithSessionTimeout(stories.Longest))
}

// TestCohortIsOneNode: calls that a node of their client may serve have no node of their own. They
// hold in the order in which they came, each with a greater token. After as many grants as were asked
// for there is a new node.
func TestCohortIsOneNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		const waiters, grants = 30, 8
		client, raw := openLongest(t, at), at.Raw(t)
		lease := patient.Locked(t, client.Mutex("/cohort", locks.WithCohort(grants)).Lock)
		var waiting []<-chan patient.Answer
		for i := range waiters { // each waits before the next asks
			waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), client.Mutex("/cohort", locks.WithCohort(grants)).Lock))
			patient.AwaitWaiting(t, client, "/cohort", i+1)
		}
		require.Len(t, at.Children(t, raw, "/cohort"), 4, "one for each run of calls that it may serve")
		tokens, nodes := []messages.Token{lease.Token()}, map[string]int{lease.Node(): 1}
		for _, next := range waiting {
			patient.GiveBack(t, lease)
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			lease = got.Lease
			require.True(t, lease.Valid())
			tokens = append(tokens, lease.Token())
			nodes[lease.Node()]++
		}
		patient.GiveBack(t, lease)
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
		busy, other, o := at.Open(t), at.Open(t), stories.Look(t, at)
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
			patient.GiveBack(t, next.Lease)
		}
		for range 5 {
			outside := stories.LockOutside(o, "/fair")
			outside.Hold(t)
			require.NoError(t, outside.Unlock())
		}
	})
}
