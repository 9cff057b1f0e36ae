package singleton

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
)

// guard stands right before a singleton's child, as the innermost receiver middleware of its props, and
// before its continuations, as a decorator of its context. It belongs to one child, in all its
// incarnations, and runs on the child's goroutine.
type guard struct {
	term          *Term
	singleton     *actor.PID
	newActivation func(*Term, *actor.PID) any
	stopped       bool // no incarnation follows
	unserved      bool // this incarnation was not told that it has started
}

// childRestarts tells the singleton that its child is being restarted.
type childRestarts struct {
	mailbox.Quiet
	guard *guard
}

func (g *guard) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		if g.stopped { // a restart that was decided before it stopped would bring it back, and nobody stops it then
			return
		}
		switch env.Message.(type) {
		case *actor.Started:
			if g.unserved = !g.term.Valid(); g.unserved {
				c.ActorSystem().Root.Stop(c.Self())
				return
			}
			next(c, env)
			next(c, &actor.MessageEnvelope{Message: g.newActivation(g.term, g.singleton), Sender: g.singleton})
		case *actor.Restarting:
			c.ActorSystem().Root.Send(g.singleton, &childRestarts{guard: g})
			next(c, env)
		case *actor.Stopping:
			g.last(next, c, env)
		case *actor.Stopped:
			g.stopped = true
			g.last(next, c, env)
		case *actor.Terminated: // which overtakes the end of the lease
			if !g.unserved && g.term.Valid() {
				next(c, env)
			}
		case actor.SystemMessage, actor.AutoReceiveMessage:
			next(c, env)
		default:
			if !g.term.Valid() {
				c.ActorSystem().DeadLetter.SendUserMessage(g.singleton, env)
				return
			}
			next(c, env)
		}
	}
}

// last serves Stopping or Stopped. A panic there would have the supervisor restart an actor that is
// to end.
func (g *guard) last(next actor.ReceiverFunc, c actor.ReceiverContext, env *actor.MessageEnvelope) {
	if g.unserved {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			mailbox.LogPanic(c.ActorSystem(), "the actor of a singleton panicked while it was stopping", r)
		}
	}()
	next(c, env)
}

// guardedContext is the context of a child. The continuations of ReenterAfter pass no middleware.
type guardedContext struct {
	actor.Context
	guard *guard
}

func (g *guard) decorate(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
	return func(ctx actor.Context) actor.Context { return next(&guardedContext{ctx, g}) }
}

// ReenterAfter runs a continuation when a future has ended, unless the term is over by then, or the
// child has ended: the actor system runs the continuations that are in the mailbox behind its Stop,
// and the lock may be another node's before that.
func (c *guardedContext) ReenterAfter(f *actor.Future, cont func(res any, err error)) {
	c.Context.ReenterAfter(f, func(res any, err error) {
		if !c.guard.stopped && c.guard.term.Valid() {
			cont(res, err)
		}
	})
}

// backlog keeps the messages that came while no child ran, in order, up to a bound.
type backlog struct {
	most int
	kept []*actor.MessageEnvelope
}

// keep adds an actor's present message, if there is room.
func (b *backlog) keep(ctx actor.Context) bool {
	if len(b.kept) >= b.most {
		return false
	}
	b.kept = append(b.kept, envelope(ctx))
	return true
}

// take gives the kept messages, and forgets them.
func (b *backlog) take() []*actor.MessageEnvelope {
	kept := b.kept
	b.kept = nil
	return kept
}

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
