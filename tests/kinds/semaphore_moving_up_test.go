package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestMovesUpBetweenTheListingAndTheWatch: a waiter reads the queue. Before it watches its predecessor, the
// predecessor has come in, and said so. Nobody says it again, and yet the waiter must see any holder leave.
func TestMovesUpBetweenTheListingAndTheWatch(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		client, proxy := zk.Open(t), zk.Proxy(t)
		late := patient.Open(t, proxy.Addr()+zk.Root())
		leaving, err := client.Semaphore("/moves-up", 2).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		other, err := client.Semaphore("/moves-up", 2).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		before := queueUp(t, client, "/moves-up", 2, 1, messages.StateWatching)

		listing := proxy.Expect(rig.Rule{Op: rig.OpGetChildren2, Action: rig.Delay,
			Path: func(path string) bool { return strings.HasSuffix(path, "/moves-up") }})
		rec := patient.Recorder(t, late)
		waiting := patient.Elsewhere(patient.Deadline(t), permitsOf(late.Semaphore("/moves-up", 2,
			patient.ObservedBy(rec)), 1))
		stories.AwaitFault(t, listing, waiting) // it has read a queue in which the one before it waits
		patient.GiveBack(t, leaving)
		holds := patient.Receive(t, before)
		require.NoError(t, holds.Err)
		o := stories.Look(t, zk)
		patient.Eventually(t, func() bool {
			_, stat, err := o.Get(zk.Root() + "/moves-up/" + holds.Lease.Node())
			return err == nil && stat.Version > 0
		}, "it never said that it had come in")
		listing.Release()
		patient.Await(t, rec, messages.StateWatching)

		patient.GiveBack(t, other)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.Zero(t, late.Session().Counters().Polls, "it was told, and had not to look")
		patient.GiveBack(t, got.Lease, holds.Lease)
	})
}
