package singleton

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// pair is a world of two nodes, of which the first is active and the second waits.
func pair(t *testing.T, story func(w *world, a, b *node, by *actors.Activation), opts ...actors.SingletonOption) {
	t.Helper()
	play(t, 2, func(w *world) {
		a, b := w.nodes[0], w.nodes[1]
		a.spawn(a.props(opts...))
		w.active(a)
		b.spawn(b.props(opts...))
		w.until("b waits", func() bool { return w.contenders() == 2 })
		time.Sleep(time.Minute) // a new connection's lease is longer
		by := w.active(a)
		require.True(w.t, by.Valid())
		require.NoError(w.t, by.Context.Err())
		require.NotZero(w.t, by.Token)
		require.Equal(w.t, path, by.Path)
		require.True(w.t, by.Singleton.Equal(a.pid))
		story(w, a, b, by)
	})
}

// moved waits until the second node is active, and requires what is true then.
func moved(w *world, to *node, from *actors.Activation, cause error) *actors.Activation {
	w.t.Helper()
	next := w.active(to)
	require.Greater(w.t, next.Token, from.Token)
	require.False(w.t, from.Valid())
	require.ErrorIs(w.t, context.Cause(from.Context), cause)
	return next
}

// TestMoves: however the term of a child ends, it has ended before another node's begins, and its context says why. A node
// whose singleton goes on campaigns again.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(w *world, a, b *node, by *actors.Activation)
		cause  error
		broken bool // nobody waits for its lease
	}{
		"stop":    {func(w *world, a, _ *node, _ *actors.Activation) { w.system.Root.Stop(a.pid) }, actors.ErrSingletonStopped, false},
		"poison":  {func(w *world, a, _ *node, _ *actors.Activation) { w.system.Root.Poison(a.pid) }, actors.ErrSingletonStopped, false},
		"cut":     {func(_ *world, a, _ *node, _ *actors.Activation) { a.line.Be(scene.Down) }, actors.ErrSingletonLost, false},
		"silence": {func(_ *world, a, _ *node, _ *actors.Activation) { a.line.Be(scene.Silent) }, actors.ErrSingletonLost, false},
		"asked":   {func(w *world, _, b *node, _ *actors.Activation) { w.ask(b, sendRevokeRequest) }, actors.ErrSingletonAsked, false},
		"expiry": {func(w *world, a, _ *node, _ *actors.Activation) {
			require.NoError(w.t, w.server.Expire(a.session.ID()))
		},
			actors.ErrSingletonLost, true},
		"broken": {func(w *world, _, b *node, _ *actors.Activation) {
			w.ask(b, &messages.Break{Contender: w.ask(b, &messages.ReadQueue{Path: path}).(*messages.Queue).Contenders[0]})
		}, actors.ErrSingletonLost, true},
		"lock actor stopped": {func(w *world, _, _ *node, by *actors.Activation) {
			lock, there := w.system.ProcessRegistry.GetLocal(by.Actor.ID)
			require.True(w.t, there)
			lock.Stop(nil)
		}, actors.ErrSingletonLost, true},
	} {
		t.Run(name, func(t *testing.T) {
			pair(t, func(w *world, a, b *node, by *actors.Activation) {
				w.witness.broken = c.broken
				if c.cause != actors.ErrSingletonLost {
					a.send(lingers(5 * time.Second))
					time.Sleep(time.Second)
					c.end(w, a, b, by)
					time.Sleep(4 * time.Second)
					require.ErrorIs(w.t, context.Cause(by.Context), c.cause)
					require.True(w.t, by.Valid(), "the child is still stopping, and the lock is kept")
					require.Equal(w.t, "a", w.witness.running())
				} else {
					c.end(w, a, b, by)
				}
				next := moved(w, b, by, c.cause)
				if c.cause == actors.ErrSingletonStopped {
					a.gone()
					return
				}
				a.line.Be(scene.Up)
				w.until("a waits", func() bool { return w.contenders() == 2 })
				b.stop()
				require.Greater(w.t, w.active(a).Token, next.Token)
			})
		})
	}
}

// TestShortCutChangesNothing: the child does not hear of a cut that is over before the lease is.
func TestShortCutChangesNothing(t *testing.T) {
	pair(t, func(w *world, a, _ *node, by *actors.Activation) {
		for range 5 {
			a.line.Be(scene.Down)
			time.Sleep(time.Second)
			a.line.Be(scene.Up)
			time.Sleep(20 * time.Second)
		}
		require.True(w.t, by.Valid())
		require.NoError(w.t, by.Context.Err())
		require.Equal(w.t, by, w.active(a))
	})
}

// TestSlowChildLosesTheLock: a child that is deaf does not keep a lock that is lost. Its context has ended before
// another one is active; here no campaign begins until it has ended.
func TestSlowChildLosesTheLock(t *testing.T) {
	pair(t, func(w *world, a, b *node, by *actors.Activation) {
		a.send(sleeps(5 * time.Minute))
		a.line.Be(scene.Down)
		w.until("both run", func() bool { return w.witness.running() == "a and b" })
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.False(w.t, by.Valid())
		a.line.Be(scene.Up)
		time.Sleep(2 * time.Minute)
		require.Equal(w.t, 1, w.contenders(), "a does not campaign while its child runs")
		w.until("a waits", func() bool { return w.contenders() == 2 })
		require.Equal(w.t, "b", w.witness.running())
	})
}

// TestSlowChildKeepsTheLock: a child that was told to stop is waited for, for longer than any timeout.
func TestSlowChildKeepsTheLock(t *testing.T) {
	pair(t, func(w *world, a, b *node, by *actors.Activation) {
		a.send(sleeps(time.Hour))
		time.Sleep(time.Second)
		w.system.Root.Stop(a.pid)
		time.Sleep(59 * time.Minute)
		require.Equal(w.t, "a", w.witness.running())
		require.True(w.t, by.Valid())
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonStopped)
		moved(w, b, by, actors.ErrSingletonStopped)
		a.gone()
	})
}

// active2 waits until a node is active, even while another still runs.
func (w *world) active2(n *node) {
	w.t.Helper()
	w.until(n.name+" is active", func() bool { return w.witness.activation(n.name) != nil })
}

// ask sends a query by a node's session.
func (w *world) ask(n *node, query any) any {
	w.t.Helper()
	answer, err := n.session.Ask(w.t.Context(), query)
	require.NoError(w.t, err)
	return answer
}

// TestTakenByForce: a child that was asked and does not stop within the grace period loses the lock.
func TestTakenByForce(t *testing.T) {
	play(t, 2, func(w *world) {
		a, b := w.nodes[0], w.nodes[1]
		a.spawn(a.over(a.session, messages.Acquire{Path: path, Grace: 5 * time.Second}))
		by := w.active(a)
		b.spawn(b.props())
		a.send(sleeps(time.Minute))
		w.until("b waits", func() bool { return w.contenders() == 2 })
		w.ask(b, sendRevokeRequest)
		time.Sleep(4 * time.Second)
		require.True(w.t, by.Valid())
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonAsked)
		w.witness.broken = true // the owner has chosen a grace period instead
		w.active2(b)
		require.False(w.t, by.Valid())
		w.until("a waits", func() bool { return w.contenders() == 2 })
	})
}

// TestSessionCloses: Close waits until the child has ended, and no longer than a session timeout.
func TestSessionCloses(t *testing.T) {
	for name, slow := range map[string]bool{"in order": false, "the child hangs": true} {
		t.Run(name, func(t *testing.T) {
			pair(t, func(w *world, a, b *node, by *actors.Activation) {
				a.send(lingers(3 * time.Second))
				if slow {
					a.send(lingers(5 * time.Minute))
				}
				time.Sleep(time.Second)
				begun := time.Now()
				require.NoError(w.t, a.session.Close(w.t.Context()))
				if slow {
					require.Equal(w.t, timeout, time.Since(begun).Round(time.Second))
				} else {
					require.Equal(w.t, 3*time.Second, time.Since(begun).Round(time.Second))
				}
				w.active2(b)
				require.False(w.t, by.Valid())
				require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonStopped)
				a.gone()
				require.Equal(w.t, "b", w.witness.running())
			})
		})
	}
}
