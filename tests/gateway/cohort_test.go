package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// asks is a requester with a recorder.
type asks struct {
	*office
	pid *actor.PID
	rec *actorstest.Recorder
}

func (o *office) asks(want messages.Acquire) *asks { return o.asksAt(o.at, want) }

func (o *office) asksAt(at *gateway.Gateways, want messages.Acquire) *asks {
	rec := actorstest.NewRecorder(o.system)
	o.t.Cleanup(rec.Close)
	return &asks{o, o.system.Root.Spawn(gateway.NewLock(at, want, actors.WithObserver(rec.PID()))), rec}
}

func (a *asks) reach(state messages.State) messages.Transition {
	a.t.Helper()
	deadline, cancel := context.WithTimeout(a.t.Context(), time.Hour)
	defer cancel()
	to, err := a.rec.Await(deadline, state)
	require.NoError(a.t, err, "%v %+v", a.rec.States(), a.rec.Notices())
	return to
}

func (a *asks) held() messages.Grant { return a.reach(messages.StateHeld).Grant }

func (a *asks) release() {
	a.t.Helper()
	a.system.Root.Send(a.pid, &messages.Release{})
	a.reach(messages.StateReleased)
}

// settle is long enough for everything that happens at once, and short beside the time of a cohort.
const settle = 10 * time.Millisecond

// waits checks that it does not hold by now.
func (a *asks) waits() {
	a.t.Helper()
	time.Sleep(settle)
	require.NotContains(a.t, a.rec.States(), messages.StateHeld)
}

// TestRequestsShareHold: requests of one lock have a node together, one after the other, for a cohort. Then another session
// has its turn.
func TestRequestsShareHold(t *testing.T) {
	inOffice(t, func(o *office) {
		want := messages.Acquire{Path: "/cohort"}
		var all []*asks
		for range 3 {
			all = append(all, o.asks(want))
			time.Sleep(settle)
		}
		first := all[0].held()
		bounded, stop := context.WithTimeout(o.t.Context(), time.Hour)
		defer stop()
		other := elsewhere(bounded, o.clients[1].Mutex("/cohort"))
		time.Sleep(settle)
		all = append(all, o.asks(want))
		time.Sleep(settle)
		queue, err := o.clients[1].Queue(o.t.Context(), "/cohort")
		require.NoError(o.t, err)
		require.Len(o.t, queue, 3, "the hold, the other session, and the hold for the fourth: %v", queue)
		for i := 1; i < 3; i++ {
			all[i].waits()
			all[i-1].release()
			grant := all[i].held()
			require.Equal(o.t, first.Node, grant.Node)
			require.Equal(o.t, first.Token+messages.Token(i), grant.Token)
		}
		require.Empty(o.t, other)
		all[2].release()
		got := <-other
		require.NoError(o.t, got.err)
		all[3].waits()
		require.NoError(o.t, got.lease.Unlock(o.t.Context()))
		require.NotEqual(o.t, first.Node, all[3].held().Node)
		all[3].release()
		queue, err = o.clients[1].Queue(o.t.Context(), "/cohort")
		require.NoError(o.t, err)
		require.Empty(o.t, queue)
	}, gateway.WithCohort(3))
}

// TestHoldPassesWhenPromiseIsOver: a requester that is not heard any more has the hold until all that it was promised has
// run out.
func TestHoldPassesWhenPromiseIsOver(t *testing.T) {
	inOffice(t, func(o *office) {
		var silent atomic.Bool
		way := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, is := ctx.Message().(*wire.Request); is && !silent.Load() {
				ctx.Forward(o.pids[0])
			}
		}))
		defer o.system.Root.Stop(way)
		first := o.asksAt(gateway.At(way), messages.Acquire{Path: "/cohort"})
		first.held()
		second := o.asks(messages.Acquire{Path: "/cohort"})
		second.waits()
		silent.Store(true)
		first.reach(messages.StateLost)
		require.NotContains(o.t, second.rec.States(), messages.StateHeld)
		over := time.Now()
		second.held()
		require.Less(o.t, time.Since(over), o.at.Timeout())
		second.release()
	}, gateway.WithCohort(3))
}

// TestEndsOfSharedRequests: they end as those with a hold of their own.
func TestEndsOfSharedRequests(t *testing.T) {
	for _, opts := range [][]gateway.Option{nil, {gateway.WithCohort(3)}} {
		t.Run(fmt.Sprint("options: ", len(opts)), func(t *testing.T) {
			inOffice(t, func(o *office) {
				path := messages.Acquire{Path: "/cohort"}
				first := o.asks(path)
				first.held()
				end := func(a *asks, state messages.State, why messages.Reason) {
					o.t.Helper()
					require.Equal(o.t, why, a.reach(state).Reason)
				}
				try, late, cancelled := path, path, o.asks(path)
				cancelled.waits()
				try.Try, late.Timeout = true, time.Minute
				end(o.asks(try), messages.StateCancelled, messages.ReasonNotAcquired)
				begun := time.Now()
				end(o.asks(late), messages.StateCancelled, messages.ReasonTimeout)
				require.Equal(o.t, time.Minute, time.Since(begun).Truncate(time.Second))
				o.system.Root.Send(cancelled.pid, &messages.Cancel{})
				end(cancelled, messages.StateCancelled, messages.ReasonCancelled)
				o.system.Root.Send(first.pid, &messages.Revoke{})
				first.reach(messages.StateRevoking)
				next := o.asks(messages.Acquire{Path: "/cohort", Grace: time.Minute})
				next.waits()
				first.release()
				next.held()
				o.system.Root.Send(next.pid, &messages.Revoke{})
				end(next, messages.StateReleased, messages.ReasonRevoked)
			}, opts...)
		})
	}
}

// TestWhoTellsMoreHasAHoldOfItsOwn: it shares that itself.
func TestWhoTellsMoreHasAHoldOfItsOwn(t *testing.T) {
	inOffice(t, func(o *office) {
		first := o.asks(messages.Acquire{Path: "/cohort", TellMore: true})
		grant := first.held()
		second := o.asks(messages.Acquire{Path: "/cohort"})
		second.waits()
		third := o.asks(messages.Acquire{Path: "/cohort", TellMore: true})
		third.waits()
		first.release()
		other := second.held()
		second.release()
		last := third.held()
		third.release()
		require.NotEqual(o.t, grant.Node, other.Node)
		require.NotEqual(o.t, other.Node, last.Node)
	}, gateway.WithCohort(3))
}
