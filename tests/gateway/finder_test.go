package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// pairOfGateways is a system with two gateways, each over a session of its own, in virtual time.
type pairOfGateways struct {
	system *actor.ActorSystem
	pids   [2]*actor.PID
}

func newPairOfGateways(t *testing.T) *pairOfGateways {
	server := bubble.Server(t)
	p := &pairOfGateways{system: bubble.System(t)}
	for i := range p.pids {
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
			locks.WithActorSystem(p.system))
		require.NoError(t, err)
		relists.Count(t, client.Session())
		p.pids[i], err = gateway.Spawn(p.system, client.Session(), fmt.Sprint("gateway-", i))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close(context.WithoutCancel(t.Context()))) })
	}
	return p
}

// finder finds one of the gateways, or none each third time.
type finder struct {
	*pairOfGateways
	finds, asked, again atomic.Int32
}

func (f *finder) find(_ context.Context, _ string, again bool) *actor.PID {
	if again {
		f.again.Add(1)
	}
	time.Sleep(100 * time.Millisecond) // as a cluster may take
	if f.asked.Add(1)%3 == 1 {
		return nil
	}
	return f.pids[f.finds.Load()]
}

// TestFinder: a request stays with the gateway that has accepted it, even where the finder finds
// another one meanwhile. When that gateway is gone, locks held there are lost, and waiters go to
// the gateway that is found then. A finder that finds nothing is asked again.
func TestFinder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &finder{pairOfGateways: newPairOfGateways(t)}
		client, err := gateway.Open(t.Context(), f.system, gateway.Find(f.find))
		require.NoError(t, err)
		lease := bubble.Locked(t, client.Mutex("/found").Lock)
		other := bubble.Locked(t, client.Mutex("/other").Lock)
		next := elsewhere(t.Context(), client.Mutex("/found"))
		time.Sleep(time.Minute)
		f.finds.Store(1)
		time.Sleep(time.Hour)
		require.True(t, lease.Valid(), "it has stayed with the first")
		bubble.GiveBack(t, other)
		before := f.again.Load()
		stopped(t, f.system, f.pids[0])
		<-lease.Context().Done()
		taken := <-next
		require.NoError(t, taken.err)
		require.Greater(t, taken.lease.Token(), lease.Token())
		require.Greater(t, f.again.Load(), before)
		bubble.GiveBack(t, taken.lease)
		require.NoError(t, client.Close(t.Context()))
	})
}

// TestFinderAndDowngrade: a downgrade goes to the gateway by which the writer holds, even where another one is found for
// others by now.
func TestFinderAndDowngrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &finder{pairOfGateways: newPairOfGateways(t)}
		at := gateway.Find(f.find)
		spawn := func(want messages.Acquire) (*actor.PID, *actorstest.Recorder) {
			r := actorstest.NewRecorder(f.system)
			t.Cleanup(r.Close)
			return f.system.Root.Spawn(gateway.NewLock(at, want, actors.WithObserver(r.PID()))), r
		}
		await := func(r *actorstest.Recorder, state messages.State) messages.Transition {
			to, err := r.Await(t.Context(), state)
			require.NoError(t, err)
			return to
		}
		writer, one := spawn(messages.Acquire{Path: "/prices", Mode: messages.Write})
		held := await(one, messages.StateHeld)
		f.finds.Store(1)
		reader, two := spawn(messages.Acquire{Path: "/prices", Mode: messages.Read, Beside: held.Node})
		read := await(two, messages.StateHeld)
		require.Equal(t, held.Token, read.Token)
		require.Equal(t, held.Session, read.Session)
		f.system.Root.Send(writer, &messages.Release{})
		await(one, messages.StateReleased)
		_, three := spawn(messages.Acquire{Path: "/prices", Mode: messages.Read, Beside: held.Node})
		require.Equal(t, messages.ReasonHoldGone, await(three, messages.StateFailed).Reason)
		f.system.Root.Send(reader, &messages.Release{})
		await(two, messages.StateReleased)
	})
}
