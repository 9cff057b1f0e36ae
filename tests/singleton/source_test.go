package singleton

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// source grants its lock at once, to lock actors that tell what a test has them tell, and has a lease clock that the
// test ends: a process that was paused knows by the clock what nobody has told it yet.
type source struct {
	clock    *zkconn.LeaseClock
	lock     *actor.PID
	released chan struct{}
}

var _ actors.Provider = (*source)(nil)

func newSource() *source {
	s := &source{clock: zkconn.NewLeaseClock(nil), released: make(chan struct{}, 10)}
	s.clock.Extend(time.Now().Add(time.Hour))
	return s
}

func (s *source) Clock(uint64) *zkconn.LeaseClock { return s.clock }

func (s *source) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	listens := actorstest.NewReporter(opts)
	return actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			s.lock = ctx.Self()
			_ = listens.Begin(ctx)
			term, _ := s.clock.Term()
			listens.Tell(ctx, &messages.Held{Grant: messages.Grant{Path: want.Path, Token: 1}, Epoch: 1, Term: term})
		case *messages.Revoked:
			listens.Tell(ctx, msg)
		case *messages.Release:
			s.released <- struct{}{}
			listens.Tell(ctx, &messages.Released{})
			ctx.Stop(ctx.Self())
		case *actor.Terminated:
			if msg.Why != actor.TerminatedReason_AddressTerminated {
				s.released <- struct{}{}
				ctx.Stop(ctx.Self())
			}
		}
	})
}

// told plays a story with a source, and a child of one node that is active.
func told(t *testing.T, story func(w *world, s *source, n *node, by *actors.Activation), opts ...func(*actor.Props)) {
	t.Helper()
	play(t, 1, func(w *world) {
		n, s := w.nodes[0], newSource()
		props := n.over(s, acquire)
		for _, opt := range opts {
			opt(props)
		}
		n.spawn(props)
		story(w, s, n, w.active(n))
	})
}

// TestUnheardEnd: nothing is forwarded, and nothing that was forwarded is begun, once the lease is over by the clock,
// though nobody has said so.
func TestUnheardEnd(t *testing.T) {
	told(t, func(w *world, s *source, n *node, by *actors.Activation) {
		n.send(sleeps(time.Second))
		n.send(job{1}) // is in the child's mailbox
		time.Sleep(time.Millisecond)
		s.clock.End()
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
	told(t, func(w *world, s *source, n *node, by *actors.Activation) {
		n.send(sleeps(time.Hour))
		time.Sleep(time.Millisecond)
		w.system.Root.Send(s.lock, &messages.Revoked{})
		w.until("the context has ended", func() bool { return by.Context.Err() != nil })
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.False(w.t, by.Valid())
		w.witness.broken = true // its own node campaigns again when the child has ended, not when the source grants
		time.Sleep(59 * time.Minute)
		require.Empty(w.t, s.released)
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
	told(t, func(w *world, s *source, n *node, _ *actors.Activation) {
		n.send(lingers(5 * time.Second))
		time.Sleep(time.Second)
		w.system.Root.Stop(n.pid)
		time.Sleep(4 * time.Second)
		require.Empty(w.t, s.released)
		n.gone()
		w.until("the lock is given back", func() bool { return len(s.released) == 1 })
	}, func(props *actor.Props) { props.Configure(deaf) })
}

// TestChildEndsAfterTheLease: where the child has ended by itself, and the lease is over by the clock then, though nobody
// has said so, the child's context says that the lock was lost, and why.
func TestChildEndsAfterTheLease(t *testing.T) {
	told(t, func(w *world, s *source, n *node, by *actors.Activation) {
		n.send(lingers(5 * time.Second))
		n.send(leaves{})
		time.Sleep(time.Second)
		s.clock.End()
		w.until("the lock is given back", func() bool { return len(s.released) == 1 })
		require.ErrorIs(w.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.ErrorContains(w.t, context.Cause(by.Context), string(messages.ReasonLeaseOver))
	})
}
