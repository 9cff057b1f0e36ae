package activation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// phase is the phase of an actor's lock. It only grows.
type phase uint8

const (
	// waiting: the lock is not held yet. Invariant: there is no lease.
	waiting phase = iota
	// open: the lock is held; whether it is valid now is the lease's to say.
	open
	// shut: the lock is over, or will never be held. The actor is to stop.
	shut
)

// gate is the state that the lock actor and the guarded actor share. It is the lock actor's listener, and
// its methods are called on both actors' goroutines. None calls another actor while it has the mutex.
type gate struct {
	target
	from actors.Provider

	mu    sync.Mutex
	phase phase
	lease *Lease // from open on
	cause error  // why it is shut
}

// Moved shuts a gate that is open before the lock actor deletes its node: nobody else holds before that.
func (g *gate) Moved(to messages.State, _ string) {
	if (to == messages.StateReleasing || to.Terminal()) && g.held() != nil {
		g.shut(fmt.Errorf("%w: %s", ErrOver, to))
	}
}

// Hear takes a notice of the lock actor.
func (g *gate) Hear(_ *actor.PID, notice any) {
	switch n := notice.(type) {
	case *messages.Held:
		if g.open(newLease(n, g.from.Clock(n.Epoch))) {
			g.wake()
		}
	case *messages.RevokeRequested:
		if g.why() == nil {
			g.poison()
		}
	case *messages.Revoked:
		g.shut(fmt.Errorf("%w: %s", ErrOver, messages.ReasonRevoked))
	case *messages.Lost:
		g.shut(fmt.Errorf("%w: lost: %s %s", ErrOver, n.Reason, n.Detail))
	case *messages.Released:
		g.shut(fmt.Errorf("%w: released: %s", ErrOver, n.Reason))
	case *messages.Cancelled:
		g.shut(fmt.Errorf("%w: cancelled: %s", ErrOver, n.Reason))
	case *messages.Failed:
		g.shut(fmt.Errorf("%w: failed: %s %s", ErrOver, n.Reason, n.Detail))
	case *actor.Stopped:
		if g.why() == nil {
			g.shut(fmt.Errorf("%w: %s", ErrOver, messages.ReasonStopped))
		}
	}
}

// open opens the gate; false when it is shut already.
func (g *gate) open(lease *Lease) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase != waiting {
		return false
	}
	g.phase, g.lease = open, lease
	return true
}

// shut shuts the gate for good, and has the actor stop. Later calls only change the cause. An actor
// that was never served is poisoned, so that the messages in its mailbox are refused; an actor that
// was served is stopped before it takes another message, and its children with it.
func (g *gate) shut(cause error) {
	g.mu.Lock()
	before, lease := g.phase, g.lease
	g.phase, g.cause = shut, cause
	g.mu.Unlock()
	switch before {
	case waiting:
		g.poison()
	case open:
		lease.cancel(cause)
		g.stop()
	}
}

// retire shuts the gate of an actor that is stopping already: there is nothing to stop, and its name may be another's
// soon.
func (g *gate) retire() {
	g.mu.Lock()
	before, lease := g.phase, g.lease
	g.phase = shut
	if g.cause == nil {
		g.cause = ErrOver
	}
	g.mu.Unlock()
	if before == open {
		lease.cancel(ErrOver)
	}
}

// close has the actor stop because its session is about to be closed, and reports whether the actor
// may be serving a message. The gate stays open until the actor has stopped, so that this message
// keeps its lease.
func (g *gate) close() (serves bool) {
	g.mu.Lock()
	before := g.phase
	if before == waiting {
		g.phase, g.cause = shut, fmt.Errorf("%w: %s", ErrOver, messages.ReasonSessionClosed)
	}
	g.mu.Unlock()
	switch before {
	case waiting:
		g.poison()
	case open:
		g.stop()
	}
	return before == open
}

// current gives the phase as of now: a gate whose lease has run out is shut.
func (g *gate) current() phase {
	g.mu.Lock()
	now, lease := g.phase, g.lease
	g.mu.Unlock()
	if now == open && !lease.Valid() {
		g.shut(fmt.Errorf("%w: %s", ErrOver, messages.ReasonLeaseOver))
		return shut
	}
	return now
}

// held gives the lease; nil before the lock was held.
func (g *gate) held() *Lease {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lease
}

// why tells why the gate is shut; nil while it is not.
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

// wakeUp tells a guard that its gate is open, or that more is kept.
type wakeUp struct{}

// NotInfluenceReceiveTimeout keeps it from counting as a message.
func (*wakeUp) NotInfluenceReceiveTimeout() {}

// IgnoreDeadLetterLogging keeps it out of the log: the actor may have stopped.
func (*wakeUp) IgnoreDeadLetterLogging() {}

func (t target) wake()   { go t.system.Root.Send(t.self, &wakeUp{}) }
func (t target) poison() { go t.system.Root.Poison(t.self) }
func (t target) stop()   { t.system.Root.Stop(t.self) }
