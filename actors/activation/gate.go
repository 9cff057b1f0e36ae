package activation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// gate is the state that the lock actor and the guarded actor share: the machine of package term,
// with the policy Activation. It is stepped on both actors' goroutines, on the clock's, and on that of
// a session that closes. None calls another actor while it has the mutex. What is left to do may
// change places with effects of another goroutine, which does no harm: the context of a lost lease
// has ended before anything is told, and a guard that is woken asks the machine what to do.
//
// The effects that concern the lock come only on the actor's own goroutine, and are the guard's.
type gate struct {
	target
	campaign term.Candidacy

	mu    sync.Mutex
	m     term.Machine
	cause error // why the actor is to end, in words; nil where nobody has said
}

func newGate(t target, from actors.Provider) *gate {
	g := &gate{target: t, m: term.Machine{Policy: term.Activation}}
	g.campaign = term.Candidacy{Clock: from.Clock, Lost: ErrOver, Tell: func(_ *term.Candidacy, ev term.Event, cause error) {
		g.tell(ev, cause)
	}}
	return g
}

// tell tells the machine what has happened, and carries out what follows for the actor. cause is why
// the actor is to end; nil where that is not known yet.
func (g *gate) tell(ev term.Event, cause error) { g.perform(g.step(ev, cause)) }

// step tells the machine what has happened, and gives what is to be done. The last cause counts.
func (g *gate) step(ev term.Event, cause error) []term.Effect {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cause != nil {
		g.cause = cause
	}
	return g.m.Step(ev)
}

// perform carries out the effects that concern the actor.
func (g *gate) perform(effects []term.Effect) {
	for _, effect := range effects {
		switch effect {
		case term.StartWork:
			g.wake()
		case term.DrainWork: // behind the messages in its mailbox, which are served under the lock, or refused without it
			g.poison()
		case term.StopWork: // before it takes another message, and its children with it
			g.stop()
		}
	}
}

// close has the actor stop because its session is about to be closed. A message that is being served
// keeps its lease.
func (g *gate) close() {
	ev, cause := term.Event{Kind: term.Close, Reason: messages.ReasonSessionClosed}, error(nil)
	if g.campaign.Lease() == nil {
		cause = fmt.Errorf("%w: %s", ErrOver, ev.Reason)
	}
	g.tell(ev, cause)
}

// now gives the phase as of now: the clock is read where the actor has a lease.
func (g *gate) now() term.Phase {
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
func (g *gate) serves() bool {
	phase := g.now()
	return phase == term.Active || phase == term.Draining
}

// why tells why the actor is to end; nil where nobody has said.
func (g *gate) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// ErrOver: the lock is lost, was given back, or was never had. The cause of Lease.Context wraps it.
var ErrOver = errors.New("turnstile: the lock of the actor is over")

// Lease is the lock of an actor that is being served. Its methods may be called from any goroutine.
type Lease struct{ of *term.Lease }

// Path is the lock path.
func (l *Lease) Path() string { return l.of.Path }

// Token is the fencing token.
func (l *Lease) Token() messages.Token { return l.of.Token }

// Valid reports whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused. Once false it stays false.
func (l *Lease) Valid() bool { return l.of.Valid() }

// Context ends when the lock is lost, taken by force, or given back. context.Cause wraps ErrOver.
func (l *Lease) Context() context.Context { return l.of.Context }

// Deadline is the end of the lease unless it is renewed. It moves on with each renewal.
func (l *Lease) Deadline() time.Time { return l.of.Clock.Deadline() }

// target is the actor that is guarded, as others reach it. Its methods are called on any goroutine, the
// actor's own and the session's among them. The actor's mailbox may be bounded: then a message waits until
// there is room.
type target struct {
	system *actor.ActorSystem
	self   *actor.PID
}

// wakeUp tells a guard that the lock is held, or that more is kept.
type wakeUp struct{}

// NotInfluenceReceiveTimeout keeps it from counting as a message.
func (*wakeUp) NotInfluenceReceiveTimeout() {}

// IgnoreDeadLetterLogging keeps it out of the log: the actor may have stopped.
func (*wakeUp) IgnoreDeadLetterLogging() {}

func (t target) wake()   { go t.system.Root.Send(t.self, &wakeUp{}) }
func (t target) poison() { go t.system.Root.Poison(t.self) }
func (t target) stop()   { t.system.Root.Stop(t.self) }
