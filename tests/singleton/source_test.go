package singleton

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// source grants a lock at once, which does then what a story says. Its clock knows what nobody has told yet.
type source struct {
	fake *actorstest.Fake
	lock *actorstest.FakeLock
}

// told plays a story with a child that is active under a lock of a source.
func told(t *testing.T, story func(w *world, s source, n *node, by *actors.Activation), opts ...func(*actor.Props)) {
	t.Helper()
	play(t, 1, func(w *world) {
		n, fake := w.nodes[0], &actorstest.Fake{Begin: (*actorstest.FakeLock).Hold}
		props := n.over(fake, acquire)
		for _, opt := range opts {
			opt(props)
		}
		n.spawn(props)
		by := w.active(n)
		lock, err := fake.Await(w.t.Context(), path)
		require.NoError(w.t, err)
		story(w, source{fake, lock}, n, by)
	})
}

func (s source) released() bool { return slices.Contains(s.lock.States(), messages.StateReleased) }

// TestUnheardEnd: nothing is forwarded, and nothing that was forwarded is begun, once the lease is over by the clock,
// though nobody has said so.
func TestUnheardEnd(t *testing.T) {
	told(t, func(w *world, s source, n *node, by *actors.Activation) {
		n.send(sleeps(time.Second))
		n.send(job{1}) // is in the child's mailbox
		time.Sleep(time.Millisecond)
		s.fake.Clock(1).End()
		n.send(job{2}) // is not forwarded
		time.Sleep(time.Millisecond)
		require.Equal(w.t, []int{2}, w.witness.lost())
		time.Sleep(time.Minute)
		require.Equal(w.t, []int{2, 1}, w.witness.lost())
		require.Empty(w.t, w.witness.done())
		require.False(w.t, by.Valid())
		require.Equal(w.t, n.name, w.witness.running(), "nobody has told it")
	})
}

// TestRevokedAtOnce: when the lock actor goes on, and deletes the node, the context has ended and
// the lease is not valid, however full the singleton's mailbox is.
func TestRevokedAtOnce(t *testing.T) {
	told(t, func(w *world, s source, n *node, by *actors.Activation) {
		n.send(sleeps(time.Hour))
		time.Sleep(time.Millisecond)
		s.lock.Tell(&messages.Revoked{})
		w.until("the context has ended", func() bool { return by.Context.Err() != nil })
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.False(w.t, by.Valid())
		w.witness.broken = true // its own node campaigns again when the child has ended, not when the source grants
		time.Sleep(59 * time.Minute)
		require.False(w.t, s.released())
		w.system.Root.Stop(n.pid)
		time.Sleep(2 * time.Minute)
	})
}

// TestReleasedInAnyCase: the lock is given back when the singleton has ended, also when it did not hear that it was to.
func TestReleasedInAnyCase(t *testing.T) {
	deaf := actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			switch env.Message.(type) {
			case *actor.Stopping, *actor.Stopped, *actor.Terminated:
			default:
				next(c, env)
			}
		}
	})
	told(t, func(w *world, s source, n *node, _ *actors.Activation) {
		n.send(lingers(5 * time.Second))
		time.Sleep(time.Second)
		w.system.Root.Stop(n.pid)
		time.Sleep(4 * time.Second)
		require.False(w.t, s.released())
		n.gone()
		w.until("the lock is given back", func() bool { return s.released() })
	}, func(props *actor.Props) { props.Configure(deaf) })
}

// TestChildEndsAfterTheLease: where the child has ended by itself, and the lease is over by the clock then, though nobody
// has said so, the child's context says that the lock was lost, and why.
func TestChildEndsAfterTheLease(t *testing.T) {
	told(t, func(w *world, s source, n *node, by *actors.Activation) {
		n.send(lingers(5 * time.Second))
		n.send(leaves{})
		time.Sleep(time.Second)
		s.fake.Clock(1).End()
		w.until("the lock is given back", func() bool { return s.released() })
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.ErrorContains(w.t, context.Cause(by.Context), string(messages.ReasonLeaseOver))
	})
}
