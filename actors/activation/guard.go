package activation

import (
	"cmp"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// guard stands before the messages of one actor. All but its gate belongs to the actor's goroutine.
//
// Invariants: while start is set or kept is not empty, each message that comes is put behind those that
// are kept, so that none overtakes another; and once the gate is open, a wakeUp is in the mailbox
// (waking), or is being handled, so that what is kept is served though nothing else comes. One message
// is served for each that is delivered: what the actor or its supervisor orders in between (Stop,
// Restart) comes before the next, as it does without a guard.
type guard struct {
	*settings
	system *actor.ActorSystem
	self   *actor.PID
	gate   gate

	asked  bool                     // the lock actor was spawned
	lock   *actor.PID               // nil before, and when the actor has stopped
	start  *actor.MessageEnvelope   // Started, which this incarnation has not been served; nil when it has
	begun  bool                     // it has
	again  bool                     // its supervisor has restarted it
	kept   []*actor.MessageEnvelope // not served yet, in order
	waking bool
}

// wakeUp tells a guard that its gate is open, or that more is kept.
type wakeUp struct{}

// NotInfluenceReceiveTimeout keeps it from counting as a message.
func (*wakeUp) NotInfluenceReceiveTimeout() {}

// IgnoreDeadLetterLogging keeps it out of the log: the actor may have stopped.
func (*wakeUp) IgnoreDeadLetterLogging() {}

func newGuard(s *settings, system *actor.ActorSystem, self *actor.PID) *guard {
	g := &guard{settings: s, system: system, self: self}
	g.gate.guard = g
	return g
}

// wake, poison and stop are called on any goroutine, the actor's own and the session's among them. The
// actor's mailbox may be bounded: then a message waits until there is room.
func (g *guard) wake()   { go g.system.Root.Send(g.self, &wakeUp{}) }
func (g *guard) poison() { go g.system.Root.Poison(g.self) }
func (g *guard) stop()   { g.system.Root.Stop(g.self) }

// receive takes one message that was delivered to the actor.
func (g *guard) receive(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	switch env.Message.(type) {
	case *actor.Started:
		g.start, g.begun = env, false
		g.ask(c)
		g.serve(c, next)
	case *actor.Restarting:
		g.again = true
		if g.begun {
			next(c, env)
		}
	case *actor.Stopping:
		g.stopping(c, env, next)
	case *actor.Stopped:
		defer g.end() // also when the actor panics
		if g.begun {
			next(c, env)
		}
	case *wakeUp:
		g.waking = false
		g.serve(c, next)
	case actor.SystemMessage: // Terminated, which overtakes others
		if g.begun && g.gate.look() == open {
			next(c, env)
		}
	default:
		g.take(c, env, next)
	}
}

// ask asks for the lock, once. The lock actor is at the root, because it outlives the actor's children. It
// may tell how it went before it is known here.
func (g *guard) ask(c actor.ReceiverContext) {
	if g.asked {
		return
	}
	want := g.want(c)
	g.asked = true
	want.Owner, want.Reentry = "", false
	want.Label = cmp.Or(want.Label, g.self.String())
	g.lock = g.system.Root.Spawn(g.from.NewLock(want, actors.WithListener(&g.gate), actors.WithObserver(g.observers...)))
}

// take takes a message for the actor: it is served, kept or refused.
func (g *guard) take(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	_, poison := env.Message.(*actor.PoisonPill)
	switch g.gate.look() {
	case open:
		if g.begun && g.start == nil && len(g.kept) == 0 {
			next(c, env)
			return
		}
		g.kept = append(g.kept, env)
		g.serve(c, next)
	case waiting:
		switch {
		case poison:
			g.stop()
		case len(g.kept) < g.settings.kept:
			g.kept = append(g.kept, env)
		default:
			g.refuse(env)
		}
	case shut:
		if poison {
			g.stop()
			return
		}
		g.refuse(env)
	}
}

// serve serves what is next, if the gate is open.
func (g *guard) serve(c actor.ReceiverContext, next actor.ReceiverFunc) {
	switch g.gate.look() {
	case waiting:
		return
	case shut:
		if g.again { // a panic in Stopping has brought it back to life
			g.stop()
		}
		return
	}
	var env *actor.MessageEnvelope
	switch {
	case g.start != nil:
		env, g.start, g.begun = g.start, nil, true
	case len(g.kept) > 0:
		env, g.kept[0] = g.kept[0], nil
		g.kept = g.kept[1:]
	default:
		return
	}
	if len(g.kept) == 0 {
		g.kept = nil
	} else if !g.waking { // before it is served, for that may panic
		g.waking = true
		g.wake()
	}
	next(c, env)
}

// stopping refuses what was not served. An actor that was not told that it has started is not told that
// it stops.
func (g *guard) stopping(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	if why := g.gate.why(); why != nil {
		g.system.Logger().Warn("an actor stops with its lock",
			slog.String("actor", g.self.String()), slog.Any("cause", why))
	}
	kept := g.kept
	g.kept = nil
	for _, left := range kept {
		g.refuse(left)
	}
	if !g.begun {
		g.gate.shut(ErrOver) // it is not to be started any more
		return
	}
	next(c, env)
}

// end gives the lock back: the actor has stopped, and its children have.
func (g *guard) end() {
	lock := g.lock
	g.lock, g.begun = nil, false // a restart that was decided before would serve it again
	g.gate.shut(ErrOver)
	if lock != nil {
		g.system.Root.Send(lock, &messages.Release{})
	}
}

// refuse makes a dead letter of a message.
func (g *guard) refuse(env *actor.MessageEnvelope) {
	if _, poison := env.Message.(*actor.PoisonPill); !poison {
		g.system.DeadLetter.SendUserMessage(g.self, env)
	}
}
