package actors

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// world is a session on a real server, and a connection that looks at the server from outside.
type world struct {
	ctx     context.Context
	system  *actor.ActorSystem
	session *Session
	outside *zkconn.Conn
}

func newWorld(t *testing.T, log *slog.Logger) *world {
	t.Helper()
	server := rig.StartStandalone(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cfg, err := zkconn.NewConfig(server.Addr(), zkconn.WithSessionTimeout(30*time.Second), zkconn.WithLogger(log))
	require.NoError(t, err)
	w := &world{ctx: ctx, system: actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))}
	t.Cleanup(w.system.Shutdown)
	w.session, err = StartSession(w.system, cfg)
	require.NoError(t, err)
	closeAtEnd(t, w.session)
	require.NoError(t, w.session.Ready(ctx))

	plain, err := zkconn.NewConfig(server.Addr())
	require.NoError(t, err)
	w.outside, err = zkconn.Dial(plain, 1, func(zkconn.Event) {})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.outside.Close() })
	return w
}

// spawn spawns a lock actor with a recorder; ended is closed when the lock actor has ended.
func (w *world) spawn(t *testing.T, path string) (lock *actor.PID, rec *recorder, ended <-chan struct{}) {
	t.Helper()
	lock, rec = spawnRecorded(w.session, messages.Acquire{Path: path})
	over := make(chan struct{})
	watcher := w.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			ctx.Watch(lock)
		case *actor.Terminated:
			close(over)
		}
	}))
	t.Cleanup(func() { w.system.Root.Stop(watcher) })
	return lock, rec, over
}

func (w *world) await(t *testing.T, rec *recorder, state messages.State) messages.Transition {
	t.Helper()
	tr, err := rec.await(w.ctx, state, 1)
	require.NoError(t, err)
	return tr
}

func (w *world) awaitEnd(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-w.ctx.Done():
		t.Fatal("the lock actor never ended")
	}
}

func (w *world) children(t *testing.T, path string) []string {
	t.Helper()
	children, err := w.outside.Children(path)
	require.NoError(t, err)
	return children
}

// broken is an event that the machine cannot look up: what takes it panics.
func broken() *lockTimerFired { return &lockTimerFired{kind: machine.Kind(255)} }

// TestRealPanicEndsOneLockActorAndNoOther: it is not started again, its node goes, and the others of its
// session hold on, wait on, and are granted.
func TestRealPanicEndsOneLockActorAndNoOther(t *testing.T) {
	w := newWorld(t, slog.New(slog.DiscardHandler))
	_, other, _ := w.spawn(t, "/other")
	w.await(t, other, messages.StateHeld)
	holder, holderRec, holderEnded := w.spawn(t, "/p")
	held := w.await(t, holderRec, messages.StateHeld)
	waiter, waiterRec, waiterEnded := w.spawn(t, "/p")
	node := w.await(t, waiterRec, messages.StateWatching).Node
	last, lastRec, lastEnded := w.spawn(t, "/p")
	w.await(t, lastRec, messages.StateWatching)

	w.system.Root.Send(waiter, broken())
	w.awaitEnd(t, waiterEnded)
	require.Equal(t, messages.ReasonStopped, w.await(t, waiterRec, messages.StateReleasing).Reason)
	_, err := lastRec.await(w.ctx, messages.StateWatching, 2) // its predecessor's node went
	require.NoError(t, err)
	require.NotContains(t, w.children(t, "/p"), node)
	require.Contains(t, w.children(t, "/p"), held.Node)

	w.system.Root.Send(holder, broken())
	got := w.await(t, lastRec, messages.StateHeld)
	require.Greater(t, got.Token, held.Token)
	w.awaitEnd(t, holderEnded)
	require.Equal(t, []string{got.Node}, w.children(t, "/p"))

	require.Equal(t, []messages.State{messages.StateCreating, messages.StateHeld}, other.states())
	w.system.Root.Send(last, &messages.Release{})
	w.awaitEnd(t, lastEnded)
	require.Empty(t, w.children(t, "/p"))
	for _, rec := range []*recorder{holderRec, waiterRec} {
		creations := slices.DeleteFunc(rec.states(), func(s messages.State) bool { return s != messages.StateCreating })
		require.Len(t, creations, 1, "it was started again")
	}
	require.NoError(t, w.session.Err())
}

// TestRealPanicWhileCreating: the node that is still being made goes as well.
func TestRealPanicWhileCreating(t *testing.T) {
	w := newWorld(t, slog.New(slog.DiscardHandler))
	for range 10 {
		young, _, youngEnded := w.spawn(t, "/young")
		w.system.Root.Send(young, broken())
		w.awaitEnd(t, youngEnded)
		next, rec, ended := w.spawn(t, "/young")
		w.await(t, rec, messages.StateHeld)
		w.system.Root.Send(next, &messages.Release{})
		w.awaitEnd(t, ended)
	}
	require.Eventually(t, func() bool { return len(w.children(t, "/young")) == 0 }, time.Minute, 10*time.Millisecond)
}

// TestRestartedSessionCloses: a panic outside of Receive, as at a Watch without an actor, has protoactor restart the
// session actor. The session is closed: one that began anew would leave the old one behind, with its locks.
func TestRestartedSessionCloses(t *testing.T) {
	server := embedded.Run(t)
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	t.Cleanup(system.Shutdown)
	cfg, err := zkconn.NewConfig(server.Addr())
	require.NoError(t, err)
	session, err := StartSession(system, cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, session.Ready(ctx))
	process, _ := system.ProcessRegistry.GetLocal(session.PID().Id)
	process.SendSystemMessage(session.PID(), &actor.Watch{})
	select {
	case <-session.ended:
	case <-ctx.Done():
		t.Fatalf("it has not ended: %v, sessions %x", session.Err(), server.Sessions())
	}
	require.ErrorIs(t, session.Err(), ErrSessionClosed)
	require.NoError(t, session.Close(ctx))
	require.Empty(t, server.Sessions())
}
