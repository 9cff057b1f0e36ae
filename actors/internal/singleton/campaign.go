package singleton

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Campaign is one campaign: it listens to the lock actor, on whose goroutine it runs. The end of
// the lease ends the child's context at once, however full the singleton's mailbox is.
type Campaign struct {
	leaseClock func(epoch uint64) *zkconn.LeaseClock
	root       *actor.RootContext
	self       *actor.PID // the singleton
	term       *Term      // nil before it is held
	over       bool       // the end was told
}

// campaignTold is a notice of a campaign's lock actor.
type campaignTold struct {
	mailbox.Quiet
	from   *Campaign
	notice any
	term   *Term
}

// Moved ends the term of a lock that somebody else has released, before its node is deleted: nobody
// else holds before that.
func (c *Campaign) Moved(to messages.State, _ string) {
	if to == messages.StateReleasing || to.Terminal() {
		c.lose(messages.ReasonReleased)
	}
}

// Hear takes a notice of the lock actor.
func (c *Campaign) Hear(_ *actor.PID, notice any) {
	switch n := notice.(type) {
	case *messages.Held:
		c.term = newTerm(n, c.leaseClock(n.Epoch))
	case *messages.Suspended, *messages.Resumed, *messages.Deadlocked:
		return
	case *messages.RevokeRequested:
	case *messages.Revoked:
		c.lose(messages.ReasonRevoked)
	case *actor.Stopped:
		if c.over {
			return
		}
		c.lose(messages.ReasonStopped)
	default: // the end
		c.over = true
		reason, _, _ := passes(notice)
		c.lose(reason)
	}
	c.root.Send(c.self, &campaignTold{from: c, notice: notice, term: c.term})
}

// lose ends the term. A term that was given back in order has ended before.
func (c *Campaign) lose(reason messages.Reason) {
	if c.term != nil {
		c.term.end(fmt.Errorf("%w: %s", ErrLost, reason))
	}
}

// passes reports whether a new campaign may succeed after this end of the last one.
func passes(notice any) (reason messages.Reason, detail string, again bool) {
	switch n := notice.(type) {
	case *messages.Failed:
		// The lock actor of one campaign was stopped, and not the singleton.
		reason, detail, again = n.Reason, n.Detail, n.Reason.MayPass() || n.Reason == messages.ReasonStopped
	case *messages.Lost:
		reason, detail, again = n.Reason, n.Detail, n.Reason != messages.ReasonSessionClosed
	case *messages.Cancelled:
		reason, again = n.Reason, n.Reason != messages.ReasonSessionClosed
	default: // given back, taken by force, or stopped from outside
		again = true
	}
	return reason, detail, again
}

// Causes of the end of a term's context.
var (
	// ErrLost: the lock is not ours any more; the text says why.
	ErrLost = errors.New("turnstile: the singleton has lost its lock")
	// ErrAsked: a revoke request has come.
	ErrAsked = errors.New("turnstile: the lock of the singleton was asked for")
	// ErrFailing: the child has failed too often here.
	ErrFailing = errors.New("turnstile: the singleton has failed too often on this node")
	// ErrStopped: the singleton was stopped, or its session is about to close.
	ErrStopped = errors.New("turnstile: the singleton was stopped")
)

// causeOf says why the context of the child ends. reason is that of the event. An event that tells
// of a loss comes behind Campaign.lose, which has ended the context. Where nobody has told of it, the
// clock alone knows: the lease is over.
func causeOf(outcome term.Outcome, reason messages.Reason) error {
	switch outcome {
	case term.Revoked:
		return ErrAsked
	case term.Failing:
		return ErrFailing
	case term.Taken, term.LeaseLost:
		return fmt.Errorf("%w: %s", ErrLost, cmp.Or(reason, messages.ReasonLeaseOver))
	}
	return ErrStopped
}

// Term is one hold of the lock.
type Term struct {
	// Grant is the grant of the lock.
	Grant messages.Grant
	// Context ends with the term, before any other node can have the lock.
	Context context.Context

	lease  uint64 // the number of the lease's term
	clock  *zkconn.LeaseClock
	cancel context.CancelCauseFunc
	over   atomic.Bool   // the lock is not ours any more, or is being given back
	idle   chan struct{} // closed when no child runs any more
}

func newTerm(held *messages.Held, clock *zkconn.LeaseClock) *Term {
	t := &Term{Grant: held.Grant, lease: held.Term, clock: clock, idle: make(chan struct{})}
	t.Context, t.cancel = context.WithCancelCause(context.Background())
	clock.Follow(t.lease, (*leaseTerm)(t))
	return t
}

// leaseTerm is a term as its clock knows it.
type leaseTerm Term

// TermEnded ends the term of a lease that has run out.
func (t *leaseTerm) TermEnded() {
	(*Term)(t).end(fmt.Errorf("%w: %s", ErrLost, messages.ReasonLeaseOver))
}

// Valid reports whether the lock is certain to be ours now. Once false it stays false.
func (t *Term) Valid() bool { return !t.over.Load() && t.clock.Unbroken(t.lease) }

// Deadline is the end of the lease unless it is renewed.
func (t *Term) Deadline() time.Time { return t.clock.Deadline() }

// end ends the term: nothing is done under the lock any more.
func (t *Term) end(cause error) {
	t.over.Store(true)
	t.cancel(cause)
	t.clock.Unfollow((*leaseTerm)(t))
}
