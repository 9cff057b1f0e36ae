package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestMovesUpBetweenTheListingAndTheWatch: a waiter reads the queue; before it watches the one before it, that one
// has come in, and said so. Nobody says it again, and yet the waiter must see any holder leave.
func TestMovesUpBetweenTheListingAndTheWatch(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		client, proxy := open(t, zk.Connect()), zk.Proxy(t)
		late := open(t, proxy.Addr()+zk.Root())
		leaving, err := client.Semaphore("/moves-up", 2).Acquire(deadline(t), 1)
		require.NoError(t, err)
		other, err := client.Semaphore("/moves-up", 2).Acquire(deadline(t), 1)
		require.NoError(t, err)
		before := queueUp(t, client, "/moves-up", 2, 1, messages.StateWatching)

		listing := proxy.Expect(rig.Rule{Op: rig.OpGetChildren2, Action: rig.Delay,
			Path: func(path string) bool { return strings.HasSuffix(path, "/moves-up") }})
		rec := recorder(t, late)
		waiting := elsewhere(deadline(t), permitsOf(late.Semaphore("/moves-up", 2, observedBy(rec)), 1))
		awaitFault(t, listing, waiting) // it has read a queue in which the one before it waits
		require.NoError(t, leaving.Unlock(deadline(t)))
		holds := receive(t, before)
		require.NoError(t, holds.err)
		o := look(t, zk)
		eventually(t, func() bool {
			_, stat, err := o.Get(zk.Root() + "/moves-up/" + holds.lease.Node())
			return err == nil && stat.Version > 0
		}, "it never said that it had come in")
		listing.Release()
		await(t, rec, messages.StateWatching)

		require.NoError(t, other.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.Zero(t, late.Session().Counters().Polls, "it was told, and had not to look")
		require.NoError(t, got.lease.Unlock(deadline(t)))
		require.NoError(t, holds.lease.Unlock(deadline(t)))
	})
}
