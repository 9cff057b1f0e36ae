package gateway

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// cohort is the request of these tests.
var cohort = messages.Acquire{Path: "/cohort"}

// TestRequestsShareHold: requests of one lock have a node together, one after the other, for a
// cohort. Then another session has its turn.
func TestRequestsShareHold(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		var all []*asks
		for range 3 {
			all = append(all, o.asks(cohort))
			time.Sleep(settle)
		}
		first := all[0].held()
		other := scene.Elsewhere(t.Context(), o.clients[1].Mutex("/cohort").Lock)
		time.Sleep(settle)
		all = append(all, o.asks(cohort))
		time.Sleep(settle)
		require.Len(t, scene.QueueOf(t, o.clients[1], "/cohort"), 3, "the hold, the other session, and the hold for the fourth")
		for i := 1; i < 3; i++ {
			all[i].waits()
			all[i-1].release()
			grant := all[i].held()
			require.Equal(t, first.Node, grant.Node)
			require.Equal(t, first.Token+messages.Token(i), grant.Token)
		}
		require.Empty(t, other)
		all[2].release()
		got := <-other
		require.NoError(t, got.Err)
		all[3].waits()
		scene.GiveBack(t, got.Lease)
		require.NotEqual(t, first.Node, all[3].held().Node)
		all[3].release()
		queued(t, o.clients[1], "/cohort", 0)
	}, gateway.WithCohort(3))
}

// TestHoldPassesWhenPromiseIsOver: a requester that is not heard any more has the hold until all that
// it was promised has run out.
func TestHoldPassesWhenPromiseIsOver(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		var silent atomic.Bool
		way := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, is := ctx.Message().(*wire.Request); is && !silent.Load() {
				ctx.Forward(o.pids[0])
			}
		}))
		defer o.system.Root.Stop(way)
		first := o.asksAt(gateway.At(way), cohort)
		first.held()
		second := o.asks(cohort)
		second.waits()
		silent.Store(true)
		first.reach(messages.StateLost)
		require.NotContains(t, second.rec.States(), messages.StateHeld)
		over := time.Now()
		second.held()
		require.Less(t, time.Since(over), o.at.Timeout())
		second.release()
	}, gateway.WithCohort(3))
}

// TestEndsOfSharedRequests: they end as those with a hold of their own, which package faces has.
func TestEndsOfSharedRequests(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		first := o.asks(cohort)
		first.held()
		cancelled := o.asks(cohort)
		cancelled.waits()
		end := func(a *asks, state messages.State, why messages.Reason) {
			t.Helper()
			require.Equal(t, why, a.reach(state).Reason)
		}
		end(o.asks(messages.Acquire{Path: "/cohort", Try: true}), messages.StateCancelled, messages.ReasonNotAcquired)
		begun := time.Now()
		end(o.asks(messages.Acquire{Path: "/cohort", Timeout: time.Minute}), messages.StateCancelled, messages.ReasonTimeout)
		require.Equal(t, time.Minute, time.Since(begun).Truncate(time.Second))
		cancelled.send(&messages.Cancel{})
		end(cancelled, messages.StateCancelled, messages.ReasonCancelled)
		first.send(&messages.Revoke{})
		first.reach(messages.StateRevoking)
		next := o.asks(messages.Acquire{Path: "/cohort", Grace: time.Minute})
		next.waits()
		first.release()
		next.held()
		next.send(&messages.Revoke{})
		end(next, messages.StateReleased, messages.ReasonRevoked)
	}, gateway.WithCohort(3))
}

// TestWhoTellsMoreHasAHoldOfItsOwn: it shares that itself.
func TestWhoTellsMoreHasAHoldOfItsOwn(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		more := messages.Acquire{Path: "/cohort", TellMore: true}
		var all []*asks
		for _, want := range []messages.Acquire{more, cohort, more} {
			all = append(all, o.asks(want))
			time.Sleep(settle)
		}
		nodes := map[string]bool{}
		for i, a := range all {
			nodes[a.held().Node] = true
			for _, later := range all[i+1:] {
				later.waits()
			}
			a.release()
		}
		require.Len(t, nodes, len(all))
	}, gateway.WithCohort(3))
}
