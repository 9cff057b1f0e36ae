package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestTimeoutsSayBehindWhomOverGateway: a Lock over a gateway that is given up knows whom it waited
// for, over real connections, be that of another session or of another requester.
func TestTimeoutsSayBehindWhomOverGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene.Session)
	client, label := s.outside.client(t, s.pid), locks.WithLabel("nightly run")
	scene.RequireBehind(t, scene.Open(t, s.server.Addr()).Mutex("/a", label), client.Mutex("/a"))
	scene.RequireBehind(t, newNode(t).client(t, s.pid).Mutex("/b", label), client.Mutex("/b"))
}

// TestWaitingSaysBehindWhomOverGateway: whom a Lock waits for is told while it waits, and again when
// it is another, or somebody asks for the lock.
func TestWaitingSaysBehindWhomOverGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		told, other := make(chan locks.Change, 16), o.clients[1]
		behind := func() messages.Contender {
			change := scene.Receive(t, told)
			require.Equal(t, locks.Waiting, change.Kind)
			return change.Behind
		}
		held := scene.Locked(t, other.Mutex("/anew", locks.WithLabel("holder")).Lock)
		ctx, leave := context.WithCancel(t.Context())
		middle := scene.Elsewhere(ctx, other.Mutex("/anew", locks.WithLabel("middle")).Lock)
		queued(t, other, "/anew", 2)
		got := scene.Elsewhere(t.Context(), o.client.Mutex("/anew", locks.WithOnChange(func(c locks.Change) { told <- c })).Lock)
		require.Equal(t, "middle", behind().Label)
		leave()
		require.ErrorIs(t, scene.Receive(t, middle).Err, context.Canceled)
		holder := behind()
		require.Equal(t, held.Node(), holder.Node)
		require.NotEmpty(t, holder.Host)
		_, err := other.Revoke(t.Context(), "/anew")
		require.NoError(t, err)
		require.True(t, behind().Asked)
		scene.GiveBack(t, held)
		scene.GiveBack(t, scene.Receive(t, got).Lease)
		require.Empty(t, told)
	})
}

// TestBehindOverGateway: the observers of a lock actor over a gateway are told whom it waits for, also
// where the gateway's requesters share a node. An observer that comes late is told the current state
// first, and then what follows.
func TestBehindOverGateway(t *testing.T) {
	for name, opts := range map[string][]gateway.Option{"alone": nil, "a cohort": {gateway.WithCohort(9)}} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(t *testing.T, o *office) {
				held := scene.Locked(t, o.clients[0].Mutex("/late", locks.WithLabel("holder")).Lock)
				observed := actorstest.Observed(o.at)
				lock := o.system.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/late"}))
				first, err := observed.Await(t.Context(), "/late")
				require.NoError(t, err)
				behind, err := actorstest.AwaitNotice[*messages.Behind](t.Context(), first)
				require.NoError(t, err)
				require.Equal(t, held.Token(), behind.Contender.Token)
				require.Equal(t, "holder", behind.Contender.Label)
				late := actorstest.NewRecorder(o.system)
				late.Observe(lock)
				again, err := actorstest.AwaitNotice[*messages.Behind](t.Context(), late)
				require.NoError(t, err)
				require.Equal(t, behind, again)
				scene.GiveBack(t, held)
				got := scene.Await(t, late, messages.StateHeld)
				require.Len(t, first.Notices(), 2)
				latest := actorstest.NewRecorder(o.system)
				latest.Observe(lock)
				now := scene.Await(t, latest, messages.StateHeld)
				require.Equal(t, messages.Transition{Grant: got.Grant, To: messages.StateHeld, On: "Observe", Session: got.Session, At: now.At}, now)
				o.system.Root.Send(lock, &messages.Release{})
				_, err = actorstest.AwaitNotice[*messages.Released](t.Context(), latest)
				require.NoError(t, err)
				require.NoError(t, actorstest.Match(latest.States(),
					actorstest.InOrder(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...))
			}, opts...)
		})
	}
}

// TestDeadlockOverGateway: a waiter hears of the deadlock that it is in, and gives up.
func TestDeadlockOverGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		o.asks(messages.Acquire{Path: "/x", Owner: "a"}).held()
		o.asks(messages.Acquire{Path: "/y", Owner: "b"}).held()
		o.asks(messages.Acquire{Path: "/x", Owner: "b"}).waits()
		waiter := o.asks(messages.Acquire{Path: "/y", Owner: "a", Deadlocks: messages.Detection{Root: "/", Every: time.Second}})
		require.Len(t, waiter.hears().(*messages.Deadlocked).Deadlock.Members, 2)
		require.Equal(t, messages.ReasonDeadlock, waiter.hears().(*messages.Cancelled).Reason)
	})
}
