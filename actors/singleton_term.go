package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Causes of the end of the context of an Activation, to test with errors.Is.
var (
	// ErrSingletonLost: the lock is not ours any more; the text says why.
	ErrSingletonLost = errors.New("turnstile: the singleton has lost its lock")
	// ErrSingletonAsked: somebody has asked for the lock.
	ErrSingletonAsked = errors.New("turnstile: the lock of the singleton was asked for")
	// ErrSingletonFailing: its actor has failed too often here.
	ErrSingletonFailing = errors.New("turnstile: the singleton has failed too often on this node")
	// ErrSingletonStopped: it was stopped, or its session is about to close.
	ErrSingletonStopped = errors.New("turnstile: the singleton was stopped")
)

// Activation is the first message of each incarnation of a singleton's actor. Its Grant says which
// lock is held, and has the fencing token. It does not pass the receiver middleware of the props.
type Activation struct {
	messages.Grant
	// Context ends with the term, before any other node can have the lock. In a process that is paused
	// nothing ends it in time: there Valid tells.
	Context context.Context
	// Singleton is the address to which others send.
	Singleton *actor.PID
	term      *term
}

// Valid tells whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused and has not heard yet that it lost the lock. It stays true while the
// actor is being stopped in order, when Context has ended: what it has to save it may save. Once
// false it stays false.
func (a *Activation) Valid() bool { return a.term.valid() }

// Deadline is when the lease ends unless it is renewed; it moves on all the time while it is.
func (a *Activation) Deadline() time.Time { return a.term.clock.Deadline() }

// term is one hold of the lock.
type term struct {
	held   *messages.Held
	clock  *zkconn.LeaseClock
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   atomic.Bool   // the lock is not ours any more, or is being given back
	idle   chan struct{} // closed when no child runs any more
}

func newTerm(from LockSource, held *messages.Held) *term {
	t := &term{held: held, clock: from.Clock(held.Epoch), idle: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

func (t *term) valid() bool { return !t.over.Load() && t.clock.Unbroken(t.held.Run) }

// end ends the term: nothing is done under the lock any more.
func (t *term) end(cause error) {
	t.over.Store(true)
	t.cancel(cause)
}

// campaign is one campaign: it listens to the lock actor, on whose goroutine it runs. What ends the
// lease ends the child's context at once, whatever is in the singleton's mailbox.
type campaign struct {
	from LockSource
	root *actor.RootContext
	self *actor.PID // the singleton
	term *term      // nil before it is held
	over bool       // the end was told
}

// campaignTold is what the lock actor of a campaign has told.
type campaignTold struct {
	quiet
	from   *campaign
	notice any
	term   *term
}

// Moved ends the term of a lock that somebody else has released, before its node is deleted: nobody else holds before
// that.
func (c *campaign) Moved(to messages.State, _ string) {
	if to == messages.StateReleasing || to.Terminal() {
		c.lose(messages.ReasonReleased)
	}
}

// Hear takes a notice of the lock actor.
func (c *campaign) Hear(_ *actor.PID, notice any) {
	switch n := notice.(type) {
	case *messages.Held:
		c.term = newTerm(c.from, n)
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

// lose ends the term; one that was given back in order has ended before.
func (c *campaign) lose(reason messages.Reason) {
	if c.term != nil {
		c.term.end(fmt.Errorf("%w: %s", ErrSingletonLost, reason))
	}
}
