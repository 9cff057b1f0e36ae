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
	"github.com/turnstile-locks/turnstile/zkconn"
)

// gate is the state that the lock actor and the guarded actor share: the machine of package term,
// with the policy Activation. It is the lock actor's listener, and its methods are called on both
// actors' goroutines, and on that of a session that closes. None calls another actor while it has the
// mutex.
//
// A step of the machine and the end of the lease's context are one, under the mutex: the lock actor
// goes on to delete its node when it has told of the loss, and the context has ended by then,
// whichever goroutine has taken the step. The actor is woken and stopped behind that. Those effects
// may change places with effects of another goroutine, which does no harm: a guard that is woken
// asks the machine what to do.
//
// The effects that concern the lock come only on the actor's own goroutine, and are the guard's.
type gate struct {
	target
	from actors.Provider

	mu    sync.Mutex
	m     term.Machine
	lease *Lease // nil before the lock was held
	cause error  // why the actor is to end, in words; nil where nobody has said
}

// Moved tells that the lock is gone before the lock actor deletes its node: nobody else holds before that.
func (g *gate) Moved(to messages.State, _ string) {
	if (to == messages.StateReleasing || to.Terminal()) && g.held() != nil {
		g.tell(term.Event{Kind: term.Gone, Outcome: term.Taken}, fmt.Errorf("%w: %s", ErrOver, to))
	}
}

// Hear takes a notice of the lock actor.
func (g *gate) Hear(_ *actor.PID, notice any) {
	lockEnded := term.Event{Kind: term.LockEnded}
	switch n := notice.(type) {
	case *messages.Held:
		g.hold(newLease(n, g.from.Clock(n.Epoch)))
	case *messages.RevokeRequested:
		g.tell(term.Event{Kind: term.Revoke}, nil)
	case *messages.Revoked:
		g.tell(term.Event{Kind: term.Gone, Outcome: term.Taken}, fmt.Errorf("%w: %s", ErrOver, messages.ReasonRevoked))
	case *messages.Lost:
		lockEnded.Outcome = term.LeaseLost
		g.tell(lockEnded, fmt.Errorf("%w: lost: %s %s", ErrOver, n.Reason, zkconn.Shown(n.Detail)))
	case *messages.Released:
		g.tell(lockEnded, fmt.Errorf("%w: released: %s", ErrOver, n.Reason))
	case *messages.Cancelled:
		g.tell(lockEnded, fmt.Errorf("%w: cancelled: %s", ErrOver, n.Reason))
	case *messages.Failed:
		g.tell(lockEnded, fmt.Errorf("%w: failed: %s %s", ErrOver, n.Reason, zkconn.Shown(n.Detail)))
	case *actor.Stopped:
		if g.why() == nil {
			g.tell(lockEnded, fmt.Errorf("%w: %s", ErrOver, messages.ReasonStopped))
		}
	}
}

// hold takes a grant. One that comes when the actor is to end already is nobody's.
func (g *gate) hold(lease *Lease) {
	g.mu.Lock()
	var effects []term.Effect
	if g.m.Phase == term.Campaigning {
		g.lease = lease
		if lease.Valid() {
			lease.clock.Follow(lease.held.Term, (*gateTerm)(g))
			effects = g.happened(term.Event{Kind: term.Held, Valid: true}, nil)
		} else {
			effects = g.happened(leaseOver())
		}
	}
	g.mu.Unlock()
	g.perform(effects)
}

// gateTerm is a gate as its lease's clock knows it.
type gateTerm gate

// TermEnded tells the machine that the lease has run out. The actor is told elsewhere: its mailbox may be the user's.
func (t *gateTerm) TermEnded() {
	g := (*gate)(t)
	if effects := g.step(leaseOver()); len(effects) > 0 {
		go g.perform(effects)
	}
}

// leaseOver has the event of a lease that has run out by the clock, and says so in words.
func leaseOver() (term.Event, error) {
	return term.Event{Kind: term.Lapse, Outcome: term.LeaseLost}, fmt.Errorf("%w: %s", ErrOver, messages.ReasonLeaseOver)
}

// tell tells the machine what has happened, and carries out what follows for the actor. cause is why
// the actor is to end; nil where that is not known yet.
func (g *gate) tell(ev term.Event, cause error) { g.perform(g.step(ev, cause)) }

// step tells the machine what has happened, and gives what is left to do.
func (g *gate) step(ev term.Event, cause error) []term.Effect {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.happened(ev, cause)
}

// happened is step with the mutex. It ends the lease's context where the machine says so. The last
// cause counts; a stop from outside has none to add.
func (g *gate) happened(ev term.Event, cause error) []term.Effect {
	effects := g.m.Step(ev)
	if cause != nil {
		g.cause = cause
	}
	if ev.Kind == term.Stop && g.cause == nil {
		g.cause = ErrOver
	}
	if len(effects) == 0 || effects[0] != term.EndContext {
		return effects
	}
	g.lease.cancel(g.cause)
	g.lease.clock.Unfollow((*gateTerm)(g))
	return effects[1:]
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

// close has the actor stop because its session is about to be closed, and reports whether the actor
// may be serving a message. That message keeps its lease.
func (g *gate) close() (serves bool) {
	g.mu.Lock()
	ev, cause := term.Event{Kind: term.Close, Reason: messages.ReasonSessionClosed}, error(nil)
	if g.lease == nil {
		cause = fmt.Errorf("%w: %s", ErrOver, ev.Reason)
	}
	serves = g.m.Phase == term.Active || g.m.Phase == term.Draining
	effects := g.happened(ev, cause)
	g.mu.Unlock()
	g.perform(effects)
	return serves
}

// now gives the phase as of now: the clock is read where the actor has a lease.
func (g *gate) now() term.Phase {
	g.mu.Lock()
	phase, lease := g.m.Phase, g.lease
	g.mu.Unlock()
	if (phase == term.Active || phase == term.Draining) && !lease.Valid() {
		g.tell(leaseOver())
		return term.Lapsed
	}
	return phase
}

// serves reports whether a message may be served now.
func (g *gate) serves() bool {
	phase := g.now()
	return phase == term.Active || phase == term.Draining
}

// held gives the lease; nil before the lock was held.
func (g *gate) held() *Lease {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lease
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
type Lease struct {
	held   *messages.Held
	clock  *zkconn.LeaseClock
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newLease(held *messages.Held, clock *zkconn.LeaseClock) *Lease {
	l := &Lease{held: held, clock: clock}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Path is the lock path.
func (l *Lease) Path() string { return l.held.Path }

// Token is the fencing token.
func (l *Lease) Token() messages.Token { return l.held.Token }

// Valid reports whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused. Once false it stays false.
func (l *Lease) Valid() bool { return l.ctx.Err() == nil && l.clock.Unbroken(l.held.Term) }

// Context ends when the lock is lost, taken by force, or given back. context.Cause wraps ErrOver.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline is the end of the lease unless it is renewed. It moves on with each renewal.
func (l *Lease) Deadline() time.Time { return l.clock.Deadline() }

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
