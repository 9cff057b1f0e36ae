package singleton

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestFailsOnce: a child that panics is restarted by the supervisor, and one that ends is spawned anew. Each incarnation goes
// on under the same lock with what is in the mailbox.
func TestFailsOnce(t *testing.T) {
	for _, fails := range []any{panics{}, leaves{}} {
		pair(t, func(w *world, a, _ *node, by *actors.Activation) {
			a.send(fails)
			w.until("it is there again", func() bool { again := w.witness.activation("a"); return again != nil && again != by })
			a.send(job{1})
			w.until("the job is done", func() bool { return len(w.witness.done()) == 1 })
			again := w.active(a)
			require.Equal(w.t, by.Grant, again.Grant)
			require.Equal(w.t, by.Context, again.Context)
			require.NoError(w.t, again.Context.Err())
		})
	}
}

// TestTooManyFailures: panics and ends of the child give the lock to the other node, which is there before this one
// comes back.
func TestTooManyFailures(t *testing.T) {
	for name, fail := range map[string]any{"panics": panics{}, "leaves": leaves{}} {
		t.Run(name, func(t *testing.T) {
			pair(t, func(w *world, a, b *node, by *actors.Activation) {
				for range 2 {
					a.send(fail)
					time.Sleep(time.Second)
					require.Equal(w.t, by.Token, w.active(a).Token)
				}
				a.send(fail)
				moved(w, b, by, actors.ErrSingletonFailing)
				left := time.Now()
				time.Sleep(25 * time.Second)
				require.Equal(w.t, 1, w.contenders(), "a stays out")
				w.until("a waits", func() bool { return w.contenders() == 2 })
				require.Equal(w.t, 30*time.Second, time.Since(left).Round(time.Second))
			}, actors.WithFailures(3, time.Minute, 30*time.Second))
		})
	}
}

// TestStrategyDecides: the singleton's supervisor strategy is the one that was given with its props.
func TestStrategyDecides(t *testing.T) {
	for name, decide := range map[string]actor.Directive{"resume": actor.ResumeDirective, "stop": actor.StopDirective} {
		t.Run(name, func(t *testing.T) {
			play(t, 1, func(w *world) {
				a := w.nodes[0]
				strategy := actor.NewOneForOneStrategy(1, time.Second, func(any) actor.Directive { return decide })
				a.spawn(a.props().Configure(actor.WithSupervisor(strategy)))
				by := w.active(a)
				a.send(panics{})
				a.send(job{1})
				time.Sleep(time.Minute)
				again := w.active(a)
				require.Equal(w.t, by.Token, again.Token)
				if decide == actor.ResumeDirective {
					require.Same(w.t, by, again, "it goes on")
				} else {
					require.NotSame(w.t, by, again, "it was spawned anew")
				}
			})
		})
	}
}

// TestPanicInStopping: a child that panics while it stops has ended; the actor system would bring it back.
func TestPanicInStopping(t *testing.T) {
	pair(t, func(w *world, a, b *node, by *actors.Activation) {
		a.send(poisonous{})
		time.Sleep(time.Second)
		w.ask(b, sendRevokeRequest)
		moved(w, b, by, actors.ErrSingletonAsked)
	})
}

// TestChildThatCannotBeSpawned: a producer that panics is a failure like any other.
func TestChildThatCannotBeSpawned(t *testing.T) {
	play(t, 2, func(w *world) {
		a, b := w.nodes[0], w.nodes[1]
		a.spawn(actors.NewSingleton(a.session, messages.Acquire{Path: path},
			actor.PropsFromProducer(func() actor.Actor { panic("as ordered") })))
		time.Sleep(5 * time.Second)
		b.spawn(b.props())
		w.active(b)
	})
}

// TestRestarted: the supervisor of the singleton restarts it. The lock is given back when the child has ended, and the
// next incarnation campaigns.
func TestRestarted(t *testing.T) {
	play(t, 2, func(w *world) {
		a, b := w.nodes[0], w.nodes[1]
		parent := w.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				pid, err := ctx.SpawnNamed(a.props(actors.WithBuffer(10)), "one")
				require.NoError(w.t, err)
				a.pid = pid
				ctx.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
					if _, is := ctx.Message().(panics); is {
						panic("as ordered")
					}
				}))
			case panics:
				ctx.Forward(ctx.Children()[1])
			}
		}, actor.WithSupervisor(actor.NewAllForOneStrategy(10, time.Second, actor.DefaultDecider))))
		by := w.active(a)
		b.spawn(b.props())
		w.until("b waits", func() bool { return w.contenders() == 2 })
		a.send(lingers(5 * time.Second))
		time.Sleep(time.Second)
		w.system.Root.Send(parent, panics{})
		time.Sleep(4 * time.Second)
		require.True(w.t, by.Valid())
		require.Equal(w.t, "a", w.witness.running())
		moved(w, b, by, actors.ErrSingletonStopped)
		w.until("a waits", func() bool { return w.contenders() == 2 })
		w.system.Root.Stop(parent)
		a.gone()
		a.pid = nil
	})
}

// TestBadInput is told the parent, and nothing is sent.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		want messages.Acquire
		opts []actors.SingletonOption
		says string
	}{
		"path":      {messages.Acquire{Path: "no path"}, nil, "no path"},
		"read":      {messages.Acquire{Path: path, Mode: messages.Read}, nil, "mode read: only a mutex"},
		"write":     {messages.Acquire{Path: path, Mode: messages.Write}, nil, "mode write: only a mutex"},
		"contest":   {messages.Acquire{Path: path, Mode: messages.Contest}, nil, "mode contest: only a mutex"},
		"semaphore": {messages.Acquire{Path: path, Mode: messages.Semaphore, Permits: 1}, nil, "mode semaphore: only"},
		"try":       {messages.Acquire{Path: path, Try: true}, nil, "try, or a timeout"},
		"timeout":   {messages.Acquire{Path: path, Timeout: time.Second}, nil, "try, or a timeout"},
		"failures":  {messages.Acquire{Path: path}, []actors.SingletonOption{actors.WithFailures(0, 1, 1)}, "0 failures"},
		"buffer":    {messages.Acquire{Path: path}, []actors.SingletonOption{actors.WithBuffer(-1)}, "a buffer of -1"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 1, func(w *world) {
				a := w.nodes[0]
				parent, told := a.under(a.over(a.session, c.want, c.opts...))
				failed := <-told
				require.Equal(w.t, messages.ReasonBadInput, failed.Reason)
				require.Contains(w.t, failed.Detail, c.says)
				require.Equal(w.t, c.want.Path, failed.Path)
				require.Equal(w.t, a.pid.Id, failed.Actor.ID)
				a.gone()
				w.system.Root.Stop(parent)
			})
		})
	}
}

// TestClosedSession: no campaign can succeed any more, and the singleton ends.
func TestClosedSession(t *testing.T) {
	pair(t, func(w *world, _, b *node, _ *actors.Activation) {
		require.NoError(w.t, b.session.Close(context.WithoutCancel(w.t.Context()))) // while it campaigns
		b.gone()
		b.spawn(b.props()) // and before
		b.gone()
		require.Equal(w.t, "a", w.witness.running())
	})
}
