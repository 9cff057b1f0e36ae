package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// openLongest opens a client whose cohorts last half a minute: they do not end because the machine is slow.
func openLongest(t *testing.T, at *scene.Servers) *locks.Client {
	t.Helper()
	return at.Open(t, locks.WithSessionTimeout(scene.Longest))
}

// TestCohortIsOneNode: calls that a node of their client may serve have no node of their own. They
// hold in the order in which they came, each with a greater token. After as many grants as were asked
// for there is a new node, behind whoever came meanwhile.
func TestCohortIsOneNode(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		const waiters, grants = 30, 8
		client, o := openLongest(t, at), scene.Look(t, at)
		cohort := client.Mutex("/cohort", locks.WithCohort(grants))
		lease := scene.Locked(t, cohort.Lock)
		var waiting []<-chan scene.Answer
		for i := range waiters { // each waits before the next asks
			waiting = append(waiting, scene.Elsewhere(scene.Deadline(t), cohort.Lock))
			scene.AwaitWaiting(t, client, "/cohort", i+1)
		}
		require.Len(t, o.Queue(t, "/cohort"), 4, "one for each run of calls that it may serve")
		tokens, nodes := []messages.Token{lease.Token()}, map[string]int{lease.Node(): 1}
		for _, next := range waiting {
			scene.GiveBack(t, lease)
			lease = scene.Got(t, next)
			tokens = append(tokens, lease.Token())
			nodes[lease.Node()]++
		}
		scene.GiveBack(t, lease)
		require.IsIncreasing(t, tokens)
		for node, times := range nodes {
			require.LessOrEqual(t, times, grants, node)
		}
		require.Less(t, len(nodes), waiters, "nodes were passed on")
		scene.AwaitNone(t, at, "/cohort")

		lease = scene.Locked(t, cohort.Lock)
		outside := scene.LockOutside(o, "/cohort") // go-zookeeper's Lock
		scene.AwaitCount(t, at, "/cohort", 2)
		for served := 1; ; served++ {
			require.LessOrEqual(t, served, 2*grants, "the cohort at hand, and one more where its node was there before")
			scene.GiveBack(t, lease)
			next := scene.Elsewhere(scene.Deadline(t), cohort.Lock)
			select {
			case got := <-next:
				require.NoError(t, got.Err)
				lease = got.Lease
			case err := <-outside.Held:
				require.NoError(t, err)
				require.NoError(t, outside.Unlock())
				scene.GiveBack(t, scene.Got(t, next))
				return
			}
		}
	})
}

// TestReadersShareANode: readers that wait behind a writer have one node, which the first has made. They hold together when
// the writer has gone, and keep the next writer out until the last of them has read. All of them are asked for the lock, and
// all have lost it when an operator deletes their node.
func TestReadersShareANode(t *testing.T) {
	scene.EachServerAlone(t, func(t *testing.T, at *scene.Servers) {
		const readers = 200
		client, other, o := openLongest(t, at), at.Open(t), scene.Look(t, at)
		reader := client.RWMutex("/crowd", locks.WithCohort(readers)).Reader()
		together := func() (leases []*locks.Lease, writer *scene.Waiter) {
			first := scene.Writer.Holds(t, other, "/crowd")
			var waiting []<-chan scene.Answer
			for range readers {
				waiting = append(waiting, scene.Elsewhere(scene.Deadline(t), reader.Lock))
			}
			scene.AwaitWaiting(t, client, "/crowd", readers)
			require.Len(t, o.Queue(t, "/crowd"), 2, "the writer and the first reader")
			writer = scene.Writer.Waits(t, other, "/crowd")
			scene.GiveBack(t, first)
			for _, next := range waiting {
				lease := scene.Got(t, next)
				leases = append(leases, lease)
				require.Equal(t, leases[0].Node(), lease.Node())
				require.Greater(t, lease.Token(), first.Token())
			}
			return leases, writer
		}

		leases, second := together()
		_, err := other.Revoke(scene.Deadline(t), "/crowd")
		require.NoError(t, err)
		for _, lease := range leases {
			scene.AwaitAsked(t, lease)
		}
		later := scene.Elsewhere(scene.Deadline(t), reader.Lock)
		scene.AwaitWaiting(t, client, "/crowd", 1)
		for _, lease := range leases {
			require.True(t, lease.Valid(), "all hold together")
		}
		scene.GiveBack(t, leases[1:]...)
		scene.CatchUp(t, other)
		second.Waits(t) // one still reads
		scene.GiveBack(t, leases[0])
		require.Greater(t, second.Passes(t).Token(), leases[0].Token())
		scene.GiveBack(t, scene.Got(t, later))

		leases, second = together()
		o.Remove(t, "/crowd", leases[0].Node())
		for _, lease := range leases {
			scene.AwaitLost(t, lease)
		}
		second.Passes(t)
		next := scene.Locked(t, reader.Lock)
		require.Greater(t, next.Token(), leases[0].Token())
		scene.GiveBack(t, next)
		scene.AwaitNone(t, at, "/crowd")
	})
}
