package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// childGuard stands right before a singleton's child, as the innermost receiver middleware of its props, and
// before its continuations, as a decorator of its context. It belongs to one child, in all its
// incarnations, and runs on the child's goroutine.
type childGuard struct {
	lease     *term.Lease
	singleton *actor.PID
	stopped   bool // no incarnation follows
	unserved  bool // this incarnation was not told that it has started
}

func (g *childGuard) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		if g.stopped { // a restart that was decided before it stopped would bring it back, and nobody stops it then
			return
		}
		switch env.Message.(type) {
		case *actor.Started:
			if g.unserved = !g.lease.Valid(); g.unserved {
				c.ActorSystem().Root.Stop(c.Self())
				return
			}
			next(c, env)
			next(c, &actor.MessageEnvelope{Sender: g.singleton,
				Message: &Activation{Grant: g.lease.Grant, Context: g.lease.Context, Singleton: g.singleton, lease: g.lease}})
		case *actor.Restarting:
			c.ActorSystem().Root.Send(g.singleton, &singletonEvent{source: g, Event: term.Event{Kind: term.WorkRestarted}})
			next(c, env)
		case *actor.Stopping:
			g.last(next, c, env)
		case *actor.Stopped:
			g.stopped = true
			g.last(next, c, env)
		case *actor.Terminated: // which overtakes the end of the lease
			if !g.unserved && g.lease.Valid() {
				next(c, env)
			}
		case actor.SystemMessage, actor.AutoReceiveMessage:
			next(c, env)
		default:
			if !g.lease.Valid() {
				c.ActorSystem().DeadLetter.SendUserMessage(g.singleton, env)
				return
			}
			next(c, env)
		}
	}
}

// last serves Stopping or Stopped.
func (g *childGuard) last(next actor.ReceiverFunc, c actor.ReceiverContext, env *actor.MessageEnvelope) {
	if !g.unserved {
		term.Last(c, env, next)
	}
}

// serves reports whether a continuation may run: the lock may be another node's before the child's last ones.
func (g *childGuard) serves(actor.Context) bool { return !g.stopped && g.lease.Valid() }

// envelope gives an actor's present message, with its sender and its headers.
func envelope(ctx actor.Context) *actor.MessageEnvelope {
	env := &actor.MessageEnvelope{Message: ctx.Message(), Sender: ctx.Sender()}
	if header := ctx.MessageHeader(); header != nil {
		for _, key := range header.Keys() {
			env.SetHeader(key, header.Get(key))
		}
	}
	return env
}
