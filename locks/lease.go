package locks

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// Token is a fencing token: of two grants of one lock path the later has the greater one.
type Token = messages.Token

// Lease is a lock that is held, or was. Safe for concurrent use.
type Lease struct {
	from   *lock
	values context.Context // of the context of Lock
	stack  []byte          // of the call of Lock; nil without WithUnreleased

	// Set before Lock returns.
	call  turns.CallID
	hold  *sharing.Hold
	token Token
	limit *time.Timer

	nested    bool        // within a lease of the same lock
	shared    atomic.Bool // a lock within it that may share its hold was asked for
	suspended atomic.Bool
	ended     atomic.Bool
	span      atomic.Pointer[holdSpan] // nil where nothing is traced
	trouble   atomic.Pointer[string]   // that servers have with its release

	mu        sync.Mutex
	waiter    chan struct{} // of Lock; nil while it does not wait
	cause     error
	ctx       context.Context // nil until somebody asks for it
	cancel    context.CancelCauseFunc
	revoked   chan struct{} // closed when somebody asks for the lock; nil until Revoked is called
	over      chan struct{} // closed by the end; nil while nobody waits
	err       error         // of a hold that did not end in order, or of a refused Lock
	answered  bool          // Lock has its answer, or its caller has gone
	asked     bool          // somebody has asked for the lock
	givenBack bool
	told      bool // an Unlock has reported success
	isEnded   bool
}

// The context of a lease, and contexts derived from it, carry the lease under this key.

type leaseKey struct{}

// withValues gives a context that ends with ctx and its cause, and has another's values.
// context.Cause looks for a value, which must not be the other's.
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

// LeaseOf gives the lease of a context of Do, Election.Run or Lease.Context, or one derived from
// it; else nil.
func LeaseOf(ctx context.Context) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	return l
}

func (l *Lease) outer() *Lease { return LeaseOf(l.values) }

// caller names the caller that is blocked while the lease's owner waits for another lock.
func (l *Lease) caller() string { return cmp.Or(l.from.want.Caller, l.hold.Caller(l.call)) }

// bind is within for a context that ends with the lease, too.
func (l *Lease) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	within, end := l.within(ctx)
	stop := context.AfterFunc(l.Context(), func() { end(l.why()) })
	return within, func() {
		stop()
		end(nil)
	}
}

func (l *Lease) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	bound, end := context.WithCancelCause(context.WithValue(ctx, leaseKey{}, l))
	if span := l.held(); span != nil {
		return trace.ContextWithSpan(bound, span.Span), end
	}
	return bound, end
}

// Context ends when the lock is lost, revoked or given back, with a cause that wraps ErrLost,
// ErrRevoked, ErrMaxHold, ErrReleased or ErrClosed. It has the values of the context of Lock, not
// its deadline. A lock taken with it is taken within the lease: see WithReentry and RWMutex.
func (l *Lease) Context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil { // most are never looked into
		values := l.values
		if span := l.span.Load(); span != nil {
			values = span.ctx
		}
		l.ctx, l.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(values), leaseKey{}, l))
		if l.cause != nil {
			l.cancel(l.cause)
		}
	}
	return l.ctx
}

func (l *Lease) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

func (l *Lease) isOver() bool { return l.ended.Load() }

// Token is the fencing token.
func (l *Lease) Token() Token { return l.token }

// Path is the lock path.
func (l *Lease) Path() string { return l.from.want.Path }

// Node is the name of the contender's node, without the path. Successive leases may share one
// (WithCohort, WithSticky).
func (l *Lease) Node() string { return l.hold.Node }

// Session is the id of the ZooKeeper session that holds.
func (l *Lease) Session() int64 { return l.hold.Session }

// Valid reports whether the lock is certainly held now. It reads the clock, so it is right even in
// a paused process that has not heard of the loss. Once false it stays false.
func (l *Lease) Valid() bool { return !l.isOver() && l.hold.Valid() }

// Deadline is the end of the lease unless renewed. It moves while the ensemble answers.
func (l *Lease) Deadline() time.Time { return l.hold.Clock.Deadline() }

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
// tries until the node is known to be gone; Unlock says whether it is.
func (l *Lease) Release() { l.release() }

// Unlock gives the lock back. The lease's context ends at once. The first Unlock to be confirmed
// returns nil, even where the reply to the delete was lost or the session has expired meanwhile;
// later ones return ErrNotHeld. The error wraps ErrLost, ErrRevoked or ErrMaxHold where the lease
// had ended before.
//
// It waits until ctx ends, but no longer than the lease's Deadline, within a session timeout after
// the servers went out of reach. Then the error wraps that of ctx, or ErrUnconfirmed, and the
// session goes on trying. Call Unlock again to hear how it ended.
func (l *Lease) Unlock(ctx context.Context) error { return l.unlock(ctx, time.Now()) }

func (l *Lease) unlock(ctx context.Context, called time.Time) error {
	l.release()
	over := l.whenOver()
	if over == nil {
		return l.outcome()
	}
	timer := time.NewTimer(time.Until(l.bound(called)))
	defer timer.Stop()
	for {
		select {
		case <-over:
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

// whenOver gives a channel that is closed when the call has ended; nil where it has.
func (l *Lease) whenOver() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isEnded {
		return nil
	}
	if l.over == nil {
		l.over = make(chan struct{})
	}
	return l.over
}

// bound is the time until which Unlock waits. It moves with the lease.
func (l *Lease) bound(called time.Time) time.Time {
	end := l.Deadline() // may have become sooner: a server may have granted a shorter timeout
	if end.IsZero() {   // the session has ended, and its lock actors will hear of it
		end = l.hold.Until
	}
	if soonest := called.Add(l.from.client.lastWord); end.Before(soonest) {
		return soonest
	}
	return end
}

func (l *Lease) unconfirmed(why error) error {
	if l.whenOver() == nil { // both at once: what happened counts
		return l.outcome()
	}
	return &Error{Op: "unlock", Path: l.Path(), Node: l.Node(), State: messages.StateReleasing, Detail: l.inTrouble(), Err: why}
}

func (l *Lease) inTrouble() string {
	if text := l.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

func (l *Lease) release() {
	l.mu.Lock()
	first := !l.givenBack
	l.givenBack = true
	l.mu.Unlock()
	if !first {
		return
	}
	l.end(ErrReleased)
	l.from.client.calls.GiveBack(l.call)
}

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

// end ends the context and gives the cause, which is that of the first call.
func (l *Lease) end(cause error) (first error) {
	l.mu.Lock()
	if first = l.cause; first != nil {
		l.mu.Unlock()
		return first
	}
	l.cause = cause
	l.ended.Store(true)
	cancel := l.cancel
	if !errors.Is(cause, ErrReleased) {
		l.tell(Change{Kind: Lost, Lease: l, Err: cause})
	}
	l.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
	if open := l.from.client.open; open != nil {
		open.take(l)
	}
	if l.span.Load() != nil {
		l.endSpan(cause)
	}
	return cause
}

func (l *Lease) boundHold(d time.Duration) {
	l.limit = time.AfterFunc(d, func() {
		l.end(ErrMaxHold)
		l.release()
	})
}

func (l *Lease) finish(err error) {
	l.mu.Lock()
	first, limit := !l.isEnded, l.limit
	l.mu.Unlock()
	if !first {
		return
	}
	if limit != nil {
		limit.Stop()
	}
	if err != nil {
		l.end(err)
		l.tellLossBeforeRelease(err)
	} else {
		if cause := l.end(ErrReleased); cause != ErrReleased {
			err = l.takenBack(cause)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isEnded {
		return
	}
	l.err, l.isEnded = err, true
	if l.over != nil {
		close(l.over)
	}
}

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
