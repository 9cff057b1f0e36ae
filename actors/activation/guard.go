package activation

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// defaultKept is the number of messages that are kept for an actor that waits for its lock.
const defaultKept = 1000

// Option changes how Single works.
type Option func(*settings)

type settings struct {
	from      actors.Provider
	want      func(actor.ReceiverContext) messages.Acquire
	kept      int
	observers []*actor.PID
}

// WithKept sets how many messages are kept for an actor that waits for its lock; 1000 without it.
// Messages beyond them are refused. Zero, or less, refuses all.
func WithKept(messages int) Option { return func(s *settings) { s.kept = max(0, messages) } }

// WithObserver names actors that get every notice and every messages.Transition of the lock actors.
func WithObserver(pids ...*actor.PID) Option {
	return func(s *settings) { s.observers = append(s.observers, pids...) }
}

// incarnation is the phase of the actor's present incarnation. The zero value is that of the first one,
// which has not been served Started.
type incarnation uint8

const (
	// served: it has been served Started.
	served incarnation = iota + 1
	// renewed: it follows one that was served, and has not been served Started itself.
	renewed
	// ended: it has stopped. Nothing more is served.
	ended
)

// guard stands before the messages of one actor.
//
// Invariants: while Started is due or kept is not empty, each message that comes is put behind the
// kept ones, so that none overtakes another; and once the lock is held, a wakeUp is in the mailbox
// (waking), or is being handled, so that kept messages are served even if nothing else comes. One
// message is served for each that is delivered: a Stop or Restart from the actor or its supervisor in
// between comes before the next, as it does without a guard.
//
// The work of its machine is the actor itself. The machine is told on the actor's goroutine, on the lock
// actor's, on the clock's, and on that of a session that closes. What follows is carried out without
// the mutex, and may change places with what another goroutine does. That does no harm: the context of a
// lost lease has ended before anything is told, and a guard that is woken asks the machine what to
// do. The effects that concern the lock come only on the actor's own goroutine.
type guard struct {
	*settings
	system   *actor.ActorSystem
	self     *actor.PID // whose mailbox may be bounded: then a message waits until there is room
	campaign term.Candidacy

	mu    sync.Mutex
	m     term.Machine
	cause error // why the actor is to end, in words; nil where nobody has said

	// All below belongs to the actor's goroutine.

	incarnation incarnation
	lock        *actor.PID               // nil before it is spawned, and when the actor has stopped
	lease       *Lease                   // nil while nobody has looked
	closing     term.Closing             // of the session that the lock comes from
	start       *actor.MessageEnvelope   // Started, which this incarnation is to be served first; nil when it was
	kept        []*actor.MessageEnvelope // not served yet, in order
	waking      bool
}

func newGuard(s *settings, ctx actor.Context) *guard {
	g := &guard{settings: s, system: ctx.ActorSystem(), self: ctx.Self(), m: term.Machine{Policy: term.Activation}}
	g.campaign = term.Candidacy{Clock: s.from.Clock, Lost: ErrOver, Tell: func(_ *term.Candidacy, ev term.Event, cause error) {
		g.tell(ev, cause)
	}}
	return g
}

var extension = ctxext.NextContextExtensionID()

// ExtensionID names the guard among the extensions of an actor's context.
func (*guard) ExtensionID() ctxext.ContextExtensionID { return extension }

// guardOf gives the guard of an actor; nil for none. protoactor panics for an extension with a number
// that it has no room for yet.
func guardOf(ctx actor.ExtensionContext) (g *guard) {
	defer func() { _ = recover() }()
	g, _ = ctx.Get(extension).(*guard)
	return g
}

// receive takes one message that was delivered to the actor.
func (g *guard) receive(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	switch env.Message.(type) {
	case *actor.Started:
		g.start = env
		if g.incarnation == served || g.incarnation == renewed {
			g.incarnation = renewed
			g.tell(term.Event{Kind: term.WorkRestarted}, nil) // a panic in Stopping may have brought it back to life
		}
		g.begin(c)
		g.serve(c, next)
	case *actor.Restarting:
		if g.incarnation == served {
			next(c, env)
		}
	case *actor.Stopping:
		g.stopping(c, env, next)
	case *actor.Stopped:
		defer g.end()
		if g.incarnation == served {
			term.Last(c, env, next)
		}
	case *wakeUp:
		g.waking = false
		g.serve(c, next)
	case actor.SystemMessage: // Terminated, which overtakes others
		if g.incarnation == served && g.serves() {
			next(c, env)
		}
	default:
		g.take(c, env, next)
	}
}

// begin asks for the lock, once. Where that panics, the supervisor restarts the actor, which asks again.
// The lock actor is spawned at the root, because it outlives the actor's children. Its first notices
// may come before g.lock is set.
func (g *guard) begin(c actor.ReceiverContext) {
	g.tell(term.Event{Kind: term.Begin}, nil)
	if g.lock != nil || g.now() != term.Campaigning {
		return
	}
	want := g.want(c)
	want.Owner = ""
	want.Label = cmp.Or(want.Label, g.self.String())
	lock := g.from.NewLock(want, actors.WithListener(&g.campaign), actors.WithObserver(g.observers...))
	g.closing.Follow(g.from, g.close)
	g.lock = g.system.Root.Spawn(lock)
}

// tell tells the machine what has happened, and carries out what follows. cause is why the actor is to
// end; nil where that is not known. The last one counts.
func (g *guard) tell(ev term.Event, cause error) {
	g.mu.Lock()
	if cause != nil {
		g.cause = cause
	}
	effects := g.m.Step(ev)
	g.mu.Unlock()
	for _, effect := range effects {
		g.perform(effect)
	}
}

func (g *guard) perform(effect term.Effect) {
	root := g.system.Root
	switch effect {
	case term.StartWork:
		g.wake()
	case term.DrainWork: // behind the messages in its mailbox, which are served under the lock, or refused without it
		go root.Poison(g.self)
	case term.StopWork: // before it takes another message, and its children with it
		root.Stop(g.self)
	case term.Release:
		g.campaign.End(ErrOver)
		if g.lock != nil { // it could be spawned
			root.Send(g.lock, &messages.Release{})
		}
	case term.Finish:
		g.closing.Over()
	}
}

// close has the actor stop because its session is about to be closed. A message that is being served
// keeps its lease.
func (g *guard) close() {
	ev, cause := term.Event{Kind: term.Close, Reason: messages.ReasonSessionClosed}, error(nil)
	if g.campaign.Lease() == nil {
		cause = fmt.Errorf("%w: %s", ErrOver, ev.Reason)
	}
	g.tell(ev, cause)
}

// now gives the phase as of now: the clock is read where the actor has a lease.
func (g *guard) now() term.Phase {
	g.mu.Lock()
	phase := g.m.Phase
	g.mu.Unlock()
	if (phase == term.Active || phase == term.Draining) && !g.campaign.Lease().Valid() {
		g.tell(term.Event{Kind: term.Lapse, Outcome: term.LeaseLost}, fmt.Errorf("%w: %s", ErrOver, messages.ReasonLeaseOver))
		return term.Lapsed
	}
	return phase
}

// serves reports whether a message may be served now.
func (g *guard) serves() bool {
	phase := g.now()
	return phase == term.Active || phase == term.Draining
}

// wakeUp tells a guard that the lock is held, or that more is kept.
type wakeUp struct{}

// NotInfluenceReceiveTimeout keeps it from counting as a message.
func (*wakeUp) NotInfluenceReceiveTimeout() {}

// IgnoreDeadLetterLogging keeps it out of the log: the actor may have stopped.
func (*wakeUp) IgnoreDeadLetterLogging() {}

func (g *guard) wake() { go g.system.Root.Send(g.self, &wakeUp{}) }

// take takes a message for the actor: it is served, kept or refused.
func (g *guard) take(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	_, poison := env.Message.(*actor.PoisonPill)
	switch phase := g.now(); {
	case phase == term.Active || phase == term.Draining:
		if g.incarnation == served && len(g.kept) == 0 {
			next(c, env)
			return
		}
		g.kept = append(g.kept, env)
		g.serve(c, next)
	case poison:
		g.perform(term.StopWork)
	case phase <= term.Campaigning && len(g.kept) < g.settings.kept:
		g.kept = append(g.kept, env)
	default:
		g.refuse(env)
	}
}

// serve serves Started if it is due, or else the next kept message, if the lock is held.
func (g *guard) serve(c actor.ReceiverContext, next actor.ReceiverFunc) {
	if !g.serves() {
		return
	}
	var env *actor.MessageEnvelope
	switch {
	case g.start != nil:
		env, g.start, g.incarnation = g.start, nil, served
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

// stopping refuses the kept messages. An actor that was not served Started is not served Stopping
// either.
func (g *guard) stopping(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	g.mu.Lock()
	why := g.cause
	g.mu.Unlock()
	if why != nil {
		log, _ := mailbox.LogOf(g.system)
		log.Warn("an actor stops with its lock",
			slog.String("actor", g.self.String()), slog.Any("cause", why))
	}
	kept := g.kept
	g.kept = nil
	for _, unserved := range kept {
		g.refuse(unserved)
	}
	if g.incarnation != served {
		g.tell(term.Event{Kind: term.Stop}, nil) // it is not to be started any more
		return
	}
	term.Last(c, env, next)
}

// end tells that the actor has stopped, and its children have: the lock is given back.
func (g *guard) end() {
	g.incarnation = ended // a restart that was decided before would serve it again
	g.tell(term.Event{Kind: term.Stop}, nil)
	g.tell(term.Event{Kind: term.WorkEnded}, nil)
	g.lock = nil
}

// refuse makes a dead letter of a message.
func (g *guard) refuse(env *actor.MessageEnvelope) {
	if _, poison := env.Message.(*actor.PoisonPill); !poison {
		g.system.DeadLetter.SendUserMessage(g.self, env)
	}
}
