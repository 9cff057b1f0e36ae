package locks

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Token is a fencing token: of two grants of one lock path the later has the greater one. See
// messages.Token.
type Token = messages.Token

// Lease is a lock that is held, or was. Its methods may be called from any goroutine.
type Lease struct {
	held  *messages.Held
	clock *zkconn.LeaseClock

	from   *lock           // the lock that it was acquired with
	values context.Context // that Lock was called with, for its values

	ctx    context.Context
	cancel context.CancelCauseFunc
	span   atomic.Pointer[holdSpan] // nil where nothing is traced

	limit  *time.Timer // of WithMaxHold; nil without
	shared atomic.Bool // a lock within it was asked for that may hold together with it

	version atomic.Int32 // of the holder's node, as its transactions saw it last

	trouble atomic.Pointer[string] // that servers have with its release

	mu        sync.Mutex
	asked     bool          // somebody has asked for the lock
	revoked   chan struct{} // closed then; nil while nobody has called Revoked
	turn      chan struct{} // holds one while a transaction is under way; nil while nobody has called Txn
	lock      *actor.PID    // nil when the request has ended: a PID keeps its actor
	givenBack bool          // or to be given back behind the transactions under way
	txns      int           // transactions under way
	told      bool          // one Unlock has reported success
	over      chan struct{} // closed when the request has ended
	err       error         // why, when it did not end as it should; set before over is closed
}

// newLease makes the lease of a request that holds. values is the context of the call of Lock.
func newLease(from *lock, values context.Context, pid *actor.PID, held *messages.Held) *Lease {
	l := &Lease{held: held, clock: from.client.session.Clock(held.Epoch), lock: pid, from: from, values: values,
		over: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause((*leaseValues)(l))
	l.boundHold(from.maxHold)
	l.clock.Follow(held.Term, (*leaseTerm)(l))
	return l
}

// leaseTerm is a lease as its clock knows it.
type leaseTerm Lease

// TermEnded ends the context of a lease that has run out, or whose session is over.
func (t *leaseTerm) TermEnded() {
	l := (*Lease)(t)
	reason := messages.ReasonLeaseOver
	if session := l.from.client.Session(); session != nil && session.Err() != nil {
		reason = messages.ReasonSessionClosed
	} else if l.clock.Expired() {
		reason = messages.ReasonSessionExpired
	}
	l.end(l.from.fault(messages.StateLost, l.Node(), reason, "", ErrLost))
}

// Ownership follows the context. The context of a lease carries it, and so do contexts that are
// derived from it: a lock that is taken with such a context is taken within that lease.

type leaseKey struct{}

// leaseValues is the root of a lease's context: it never ends, carries the lease, and has the
// values of the context that Lock was called with.
type leaseValues Lease

// Deadline says that there is no deadline.
func (*leaseValues) Deadline() (end time.Time, ok bool) { return end, false }

// Done says that it never ends.
func (*leaseValues) Done() <-chan struct{} { return nil }

// Err says that it has not ended.
func (*leaseValues) Err() error { return nil }

// Value gives the lease, or a value of the context that Lock was called with.
func (v *leaseValues) Value(key any) any {
	if key == (leaseKey{}) {
		return (*Lease)(v)
	}
	if span := v.span.Load(); span != nil {
		return span.ctx.Value(key)
	}
	return v.values.Value(key)
}

// withValues gives a context that ends with ctx, with its cause, and has the values of another
// context. context.Cause looks for a value, which must not come from the other context.
func withValues(ctx, values context.Context) context.Context {
	return valued{ctx, context.WithoutCancel(values)}
}

type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any {
	if found := v.values.Value(key); found != nil {
		return found
	}
	return v.Context.Value(key)
}

// LeaseOf gives the lease of a context: that of Do, of Election.Run, or of Lease.Context. It is nil
// for another context.
func LeaseOf(ctx context.Context) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	return l
}

// outer is the lease within which it was acquired; nil for none.
func (l *Lease) outer() *Lease { return LeaseOf(l.values) }

// key names the lease's owner for the session: messages.Acquire.Owner of locks within it.
func (l *Lease) key() string { return cmp.Or(l.from.want.Owner, l.address()) }

// caller names the caller that is blocked while the lease's owner waits for another lock.
func (l *Lease) caller() string {
	if caller := l.from.want.Caller; caller != "" {
		return caller
	}
	return queue.Caller(l.address())
}

// address is the address of the lease's lock actor.
func (l *Lease) address() string { return l.held.Actor.Key(l.from.client.system.ID) }

// bind gives a context that ends with ctx and with the lease, and lies within the lease.
func (l *Lease) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	within, end := l.within(ctx)
	stop := context.AfterFunc(l.ctx, func() { end(context.Cause(l.ctx)) })
	return within, func() {
		stop()
		end(nil)
	}
}

// within gives a context that ends with ctx, and lies within the lease.
func (l *Lease) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	bound, end := context.WithCancelCause(context.WithValue(ctx, leaseKey{}, l))
	if span := l.hold(); span != nil {
		return trace.ContextWithSpan(bound, span.Span), end
	}
	return bound, end
}

// Context ends when the lock is lost, revoked or given back: context.Cause says which, with an
// error that wraps ErrLost, ErrRevoked, ErrMaxHold, ErrReleased or ErrClosed. It carries the values
// of the context that Lock was called with, but not its deadline. A lock that is taken with it is
// taken within the lease: see WithReentry, RWMutex.RLock and RWMutex.Lock.
func (l *Lease) Context() context.Context { return l.ctx }

// Token is the fencing token.
func (l *Lease) Token() Token { return l.held.Token }

// Path is the lock path.
func (l *Lease) Path() string { return l.held.Path }

// Node is the name of the contender's node, without the path.
func (l *Lease) Node() string { return l.held.Node }

// Session is the id of the ZooKeeper session that holds.
func (l *Lease) Session() int64 { return l.held.Session }

// Valid reports whether the lock is certainly held now. It reads the clock. So it is right even
// in a process that was paused and has not heard yet that it lost the lock. Once false it stays
// false.
func (l *Lease) Valid() bool {
	return l.ctx.Err() == nil && l.clock.Unbroken(l.held.Term)
}

// Deadline is the end of the lease unless it is renewed. It moves on while the ensemble answers.
func (l *Lease) Deadline() time.Time { return l.clock.Deadline() }

// Revoked gives a channel that is closed when somebody asks for the lock.
func (l *Lease) Revoked() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revoked == nil {
		l.revoked = make(chan struct{})
		if l.asked {
			close(l.revoked)
		}
	}
	return l.revoked
}

// Release gives the lock back and returns at once, for defer. The lease's context ends. The session
// deletes the node, and tries until it is known to be gone. Unlock, before or after it, says whether
// it is.
func (l *Lease) Release() { l.release() }

// Unlock gives the lock back. The lease's context ends at once. The first Unlock to be confirmed
// returns nil, even where the reply to the delete was lost or the session has expired meanwhile;
// later ones return ErrNotHeld. The error wraps ErrLost, ErrRevoked or ErrMaxHold where the lock
// was not ours any more.
//
// It waits until ctx ends, and no longer than until the lease is over (Deadline), which is within a
// session timeout after the servers went out of reach. Then the error wraps the error of ctx, or
// ErrUnconfirmed. The release goes on: the session deletes the node as soon as a server is in
// reach, and the servers delete it when the session expires. Call Unlock again to hear how it
// ended.
func (l *Lease) Unlock(ctx context.Context) error { return l.unlock(ctx, time.Now()) }

// unlock is an Unlock that was called at a time.
func (l *Lease) unlock(ctx context.Context, called time.Time) error {
	l.release()
	timer := l.from.client.startTimer(time.Until(l.bound(called)))
	defer l.from.client.stopTimer(timer)
	for {
		select {
		case <-l.over:
			return l.outcome()
		case <-ctx.Done():
			return l.unconfirmed(ended(ctx))
		case <-timer.C:
			left := time.Until(l.bound(called)) // others may keep the lease of the session going
			if left <= 0 {
				return l.unconfirmed(l.from.client.session.Explain(ErrUnconfirmed))
			}
			timer.Reset(left)
		}
	}
}

// bound gives the time until which Unlock waits. It may move, because the lease does.
func (l *Lease) bound(called time.Time) time.Time {
	end := l.clock.Deadline() // which may be sooner than it was at first: a server may have granted a shorter timeout
	if end.IsZero() {         // the session has ended, and its lock actors are about to hear of it
		end = l.held.Until
	}
	if soonest := called.Add(l.from.client.lastWord()); end.Before(soonest) {
		return soonest
	}
	return end
}

// unconfirmed is the outcome of an Unlock that does not wait any more.
func (l *Lease) unconfirmed(why error) error {
	select {
	case <-l.over: // both: what happened counts
		return l.outcome()
	default:
		return &Error{Op: "unlock", Path: l.Path(), Node: l.Node(), State: messages.StateReleasing,
			Detail: l.inTrouble(), Err: why}
	}
}

// inTrouble names the trouble that servers have with the release; "" for none.
func (l *Lease) inTrouble() string {
	if text := l.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// release asks for the release, once, and ends the context. It does not wait.
func (l *Lease) release() {
	l.mu.Lock()
	first := !l.givenBack
	l.givenBack = true
	l.mu.Unlock()
	if first {
		l.end(ErrReleased)
		l.giveBack()
	}
}

// giveBack tells the lock actor to give the lock back, unless a transaction is under way.
func (l *Lease) giveBack() {
	makeRoomOnStack(0)
	l.mu.Lock()
	lock, now := l.lock, l.givenBack && l.txns == 0
	l.mu.Unlock()
	if now && lock != nil {
		l.from.client.system.Root.Send(lock, &messages.Release{})
	}
}

// makeRoomOnStack has the caller's stack grow at once to the size that a hand-over needs: the lock
// actor, the session, and the next holder's actor run on the goroutine that gives back. A goroutine
// that has waited for long has a small stack, which would be copied three times, frame by frame,
// while nobody holds. That was a quarter of the client's time of a hand-over, where each of 60 000
// goroutines locks once.
//
//go:noinline
func makeRoomOnStack(at int) byte { // of which the compiler must not know that it is always zero
	var room [8 << 10]byte // with 4 KiB the stack still had to grow
	return room[at]
}

// outcome gives the error of an Unlock after the end of the request.
func (l *Lease) outcome() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		var e *Error
		if errors.As(l.err, &e) {
			unlock := *e
			unlock.Op = "unlock"
			return &unlock
		}
		return l.err
	}
	if l.told {
		return &Error{Op: "unlock", Path: l.Path(), Node: l.Node(), State: messages.StateReleased, Err: ErrNotHeld}
	}
	l.told = true
	return nil
}

// end ends the context: the lock is not ours any more. The first cause counts.
func (l *Lease) end(cause error) {
	l.cancel(cause)
	l.endSpan(context.Cause(l.ctx))
}

// boundHold starts the timer of WithMaxHold.
func (l *Lease) boundHold(d time.Duration) {
	if d > 0 {
		l.limit = time.AfterFunc(d, func() {
			l.end(ErrMaxHold)
			l.release()
		})
	}
}

// finish notes the end of the request.
func (l *Lease) finish(err error) {
	if l.limit != nil {
		l.limit.Stop()
	}
	l.clock.Unfollow((*leaseTerm)(l))
	if err != nil {
		l.end(err)
		l.tellLossBeforeRelease(err)
	} else {
		l.end(ErrReleased)
		err = l.takenBack(context.Cause(l.ctx))
	}
	l.mu.Lock()
	l.err, l.lock = err, nil
	l.mu.Unlock()
	close(l.over)
}

// takenBack is the error of an Unlock that comes after the lock was taken back in order, nil where
// it was not.
func (l *Lease) takenBack(cause error) error {
	reason, err := messages.ReasonNone, error(nil)
	switch {
	case errors.Is(cause, ErrRevoked):
		reason, err = messages.ReasonRevoked, ErrRevoked
	case errors.Is(cause, ErrMaxHold):
		err = ErrMaxHold
	default:
		return nil
	}
	return &Error{Op: "unlock", Path: l.Path(), Node: l.Node(), State: messages.StateReleased, Reason: reason, Err: err}
}
