package actors

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestPanicEndsOneLockActorAndNoOther: it is not started again, its node goes, also one that is still being made, and the
// others of its session hold on, wait on, and are granted.
func TestPanicEndsOneLockActorAndNoOther(t *testing.T) {
	handle, _ := spied(t, embedded.Run(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	await := func(rec *recorder, state messages.State, n int) messages.Transition {
		t.Helper()
		tr, err := rec.await(ctx, state, n)
		require.NoError(t, err)
		return tr
	}
	queue := func() (nodes []string) {
		answer, err := handle.Ask(ctx, &messages.ReadQueue{Path: "/p"})
		require.NoError(t, err)
		for _, c := range answer.(*messages.Queue).Contenders {
			nodes = append(nodes, c.Node)
		}
		return nodes
	}
	panics := func(lock *actor.PID) { // an event that the machine cannot look up
		handle.system.Root.Send(lock, &lockTimerFired{kind: machine.Kind(255)})
		require.Eventually(t, func() bool {
			_, lives := handle.system.ProcessRegistry.GetLocal(lock.Id)
			return !lives
		}, time.Minute, time.Millisecond, "it never ends")
	}
	_, other := spawnRecorded(handle, messages.Acquire{Path: "/other"})
	await(other, messages.StateHeld, 1)
	holder, holderRec := spawnRecorded(handle, messages.Acquire{Path: "/p"})
	held := await(holderRec, messages.StateHeld, 1)
	waiter, waiterRec := spawnRecorded(handle, messages.Acquire{Path: "/p"})
	await(waiterRec, messages.StateWatching, 1)
	last, lastRec := spawnRecorded(handle, messages.Acquire{Path: "/p"})
	behind := await(lastRec, messages.StateWatching, 1)

	panics(waiter)
	require.Equal(t, messages.ReasonStopped, await(waiterRec, messages.StateReleasing, 1).Reason)
	await(lastRec, messages.StateWatching, 2) // its predecessor's node went
	require.Equal(t, []string{held.Node, behind.Node}, queue())
	panics(holder)
	require.Greater(t, await(lastRec, messages.StateHeld, 1).Token, held.Token)
	require.Equal(t, []string{behind.Node}, queue())
	require.Equal(t, []messages.State{messages.StateCreating, messages.StateHeld}, other.states())
	handle.system.Root.Send(last, &messages.Release{})
	await(lastRec, messages.StateReleased, 1)
	for _, rec := range []*recorder{holderRec, waiterRec} {
		creations := slices.DeleteFunc(rec.states(), func(s messages.State) bool { return s != messages.StateCreating })
		require.Len(t, creations, 1, "it was started again")
	}

	for range 10 {
		young, _ := spawnRecorded(handle, messages.Acquire{Path: "/p"})
		panics(young)
		next, rec := spawnRecorded(handle, messages.Acquire{Path: "/p"})
		await(rec, messages.StateHeld, 1)
		handle.system.Root.Send(next, &messages.Release{})
		await(rec, messages.StateReleased, 1)
	}
	require.Eventually(t, func() bool { return len(queue()) == 0 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, handle.Err())
}

// TestRestartedSessionCloses: a panic outside of Receive, as at a Watch without an actor, has protoactor restart the
// session actor. The session is closed: one that began anew would leave the old one behind, with its locks.
func TestRestartedSessionCloses(t *testing.T) {
	server := embedded.Run(t)
	session, _ := spied(t, server)
	process, _ := session.system.ProcessRegistry.GetLocal(session.PID().Id)
	process.SendSystemMessage(session.PID(), &actor.Watch{})
	select {
	case <-session.ended:
	case <-time.After(time.Minute):
		t.Fatalf("it has not ended: %v, sessions %x", session.Err(), server.Sessions())
	}
	require.ErrorIs(t, session.Err(), ErrSessionClosed)
	require.NoError(t, session.Close(t.Context()))
	require.Empty(t, server.Sessions())
}
