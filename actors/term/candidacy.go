package term

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Candidacy is one campaign of work that is an actor. It makes events of the lock actor's notices
// (actors.Listener). On a loss it ends the lease, and only then tells: so the work's context has
// ended when the lock actor deletes its node, however full the work's mailbox is.
type Candidacy struct {
	// Clock gives the lease clock of a grant, by its messages.Held.Epoch.
	Clock func(epoch uint64) *zkconn.LeaseClock
	// Lost is what the cause of a lost lease wraps.
	Lost error
	// Tell takes an event, on any goroutine. cause is that of a loss.
	Tell func(of *Candidacy, ev Event, cause error)

	lease atomic.Pointer[Lease]
	over  bool // LockEnded was told
}

// Lease gives the lease; nil before the lock is held.
func (c *Candidacy) Lease() *Lease { return c.lease.Load() }

// Moved takes a change of state, before the node is deleted.
func (c *Candidacy) Moved(to messages.State, _ string) {
	switch l := c.Lease(); {
	case l == nil || l.over.Load():
	case to == messages.StateReleasing:
		c.lose(Event{Kind: Gone, Outcome: Taken, Reason: messages.ReasonReleased})
	case to.Terminal(): // which is told at once, with the reason
		c.End(fmt.Errorf("%w: %s", c.Lost, to))
	}
}

// Hear takes a notice of the lock actor.
func (c *Candidacy) Hear(_ *actor.PID, notice any) {
	ev := Event{Kind: LockEnded, Passes: true}
	switch n := notice.(type) {
	case *messages.Held:
		l := &Lease{Held: n, Clock: c.Clock(n.Epoch)}
		l.Context, l.EndContext = context.WithCancelCause(context.Background())
		c.lease.Store(l)
		l.Clock.Follow(n.Term, c)
		c.Tell(c, Event{Kind: Held, Valid: l.Valid()}, nil)
		return
	case *messages.RevokeRequested:
		c.Tell(c, Event{Kind: Revoke}, nil)
		return
	case *messages.Revoked:
		c.lose(Event{Kind: Gone, Outcome: Taken, Reason: messages.ReasonRevoked})
		return
	case *messages.Released:
		ev.Reason = n.Reason
	case *messages.Lost:
		ev.Reason, ev.Detail, ev.Passes = n.Reason, n.Detail, n.Reason != messages.ReasonSessionClosed
		if c.Lease() != nil {
			ev.Outcome = LeaseLost
		}
	case *messages.Cancelled:
		ev.Reason, ev.Passes = n.Reason, n.Reason != messages.ReasonSessionClosed
	case *messages.Failed: // ReasonStopped: of the lock actor of one campaign
		ev.Reason, ev.Detail, ev.Passes = n.Reason, n.Detail, n.Reason.MayPass() || n.Reason == messages.ReasonStopped
	case *actor.Stopped:
		if ev.Reason = messages.ReasonStopped; c.over {
			return
		}
	default:
		return
	}
	c.over = true
	c.lose(ev)
}

// lose ends the lease, where there is one, and tells.
func (c *Candidacy) lose(ev Event) {
	cause := fmt.Errorf("%w: %s %s", c.Lost, ev.Reason, zkconn.Shown(ev.Detail))
	c.End(cause)
	c.Tell(c, ev, cause)
}

// TermEnded takes the end of the lease by the clock, which nothing may hold up.
func (c *Candidacy) TermEnded() {
	cause := fmt.Errorf("%w: %s", c.Lost, messages.ReasonLeaseOver)
	c.End(cause)
	go c.Tell(c, Event{Kind: Lapse, Outcome: LeaseLost}, cause)
}

// End ends the lease, where there is one: nothing more is done under the lock.
func (c *Candidacy) End(cause error) {
	if l := c.Lease(); l != nil {
		l.over.Store(true)
		l.EndContext(cause)
		l.Clock.Unfollow(c)
	}
}

// Lease is a lock that is held by work that is an actor.
type Lease struct {
	*messages.Held
	Clock *zkconn.LeaseClock
	// Context is that of the work.
	Context    context.Context
	EndContext context.CancelCauseFunc

	over atomic.Bool // the lock is not ours any more, or is being given back
}

// Valid reports whether the lock is certain to be ours now. Once false it stays false.
func (l *Lease) Valid() bool { return !l.over.Load() && l.Clock.Unbroken(l.Term) }

// Closing has a closed session wait for the end of work, a session timeout at most. The zero value
// follows none. It is for one goroutine.
type Closing struct {
	forget func()        // takes back the session's BeforeClose
	ended  chan struct{} // closed when the work has ended
}

// Follow follows the session that locks come from, if it is of this process. begins is called when
// it is to be closed. Once is enough.
func (c *Closing) Follow(from any, begins func()) {
	session, is := from.(interface {
		BeforeClose(do func()) (forget func())
		Timeout() time.Duration
	})
	if !is || c.forget != nil {
		return
	}
	ended := make(chan struct{})
	c.ended = ended
	c.forget = session.BeforeClose(func() {
		begins()
		bound := time.NewTimer(session.Timeout())
		defer bound.Stop()
		select {
		case <-ended:
		case <-bound.C:
		}
	})
}

// Over says that the work has ended.
func (c *Closing) Over() {
	if c.forget != nil {
		c.forget()
		close(c.ended)
		c.forget = nil
	}
}
