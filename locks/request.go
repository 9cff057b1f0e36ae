package locks

import (
	"context"
	"errors"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// acquire carries out every call of Lock.
func (l *lock) acquire(ctx context.Context) (*Lease, error) {
	if l.client.tracer == nil {
		return l.await(ctx)
	}
	_, span := l.startSpan(ctx, "turnstile.lock.acquire", trace.SpanKindClient)
	lease, err := l.await(ctx)
	if lease != nil {
		span.granted(lease.held)
		lease.trace()
	}
	span.end(err)
	return lease, err
}

// await spawns the request and waits for its answer, or for the end of ctx.
func (l *lock) await(ctx context.Context) (*Lease, error) {
	if l.wrong != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: l.wrong}
	}
	if err := l.checkRequest(); err != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: err}
	}
	if err := l.client.enter(ctx); err != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: err}
	}
	r := newRequest(l.within(ctx), ctx)
	pid := r.start()
	select {
	case <-r.settled:
		return r.answer.lease, r.answer.err
	case <-ctx.Done():
		// The request is told, and goes on without us until its node is gone. A grant that is there
		// already, or on its way, is given back like any other.
		err := r.timedOut(l.client.session.Explain(ended(ctx)))
		l.client.system.Root.Send(pid, &messages.Cancel{Reason: reasonOf(ctx)})
		return nil, err
	}
}

// reasonOf gives the reason of a request whose ctx is done.
func reasonOf(ctx context.Context) messages.Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return messages.ReasonTimeout
	}
	return messages.ReasonCancelled
}

// within adds the owner and the caller to a request that is made within leases.
func (l *lock) within(ctx context.Context) *lock {
	around := LeaseOf(ctx)
	if around == nil {
		return l
	}
	inner := *l
	inner.want.Caller = around.caller()
	for held := around; held != nil; held = held.outer() {
		if held.from.sameLock(l) && held.ctx.Err() == nil {
			inner.want.Owner = held.key()
			if l.reentry || l.want.Mode == messages.Read {
				held.shared.Store(true) // before it is asked for, and so before anything is written under it
			}
			break
		}
	}
	return &inner
}

// request is the adapter between a lock actor and a goroutine that waits in Lock: it listens to the
// lock actor and settles its answer. It goes on until the lock actor has ended, so that a grant
// that arrives after the caller has gone is given back. Futures would lose replies (protoactor
// issue 1145).
type request struct {
	from    *lock           // whose Lock was called
	values  context.Context // the caller's, for its values
	settled chan struct{}   // closed once there is an answer
	stack   []byte          // of the call of Lock; nil without WithUnreleased

	mu          sync.Mutex
	state       messages.State // of the lock actor
	waited      messages.State // the last one in which it waited for the lock
	node        string
	predecessor predecessor // the contender that it last waited for; nil where it has not waited
	// trouble says why servers that are there do not carry it out, such as hang-ups; "" for no
	// trouble.
	trouble string

	// The rest belongs to the lock actor; Lock reads the answer once it is settled.
	answer   answer
	lease    *Lease
	gaveUp   *DeadlockError // the deadlock that it gave up for
	answered bool
	over     bool
}

// predecessor is the contender that a request waits for; path is the lock path. An alias, because the session knows the
// type without the name.
type predecessor = interface {
	Contender(path string) messages.Contender
}

// answer holds the results of Lock.
type answer struct {
	lease *Lease
	err   error
}

func newRequest(from *lock, values context.Context) *request {
	return &request{from: from, values: values, settled: make(chan struct{}), stack: from.client.open.stack(),
		state: messages.StateCreating, waited: messages.StateCreating}
}

// start spawns the lock actor.
func (r *request) start() *actor.PID {
	if r.from.requests != nil {
		r.from.requests.Add(1)
	}
	return r.from.client.session.SpawnLock(&r.from.want, r, r.from.observers)
}

// Moved notes where the request stands.
func (r *request) Moved(to messages.State, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.node = to, node
	if to == messages.StateCreating { // in another queue, or another session
		r.predecessor = nil
	}
	if !to.Terminal() && to != messages.StateReleasing {
		r.waited = to
	}
}

// WaitsFor notes the contender for which the request waits.
func (r *request) WaitsFor(predecessor predecessor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.predecessor = predecessor
}

// Troubled notes what keeps the request from being carried out.
func (r *request) Troubled(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = text
	if r.lease != nil {
		r.lease.trouble.Store(&text)
	}
}

// timedOut is the error of a Lock whose ctx ended while it waited.
func (r *request) timedOut(why error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &Error{Op: "lock", Path: r.from.want.Path, Node: r.node, State: r.waited, Detail: r.trouble, Err: why}
	// Where it lists again its predecessor has gone. Somebody was before it, all the same.
	if r.predecessor != nil && (e.State == messages.StateWatching || e.State == messages.StateListing) {
		e.Behind = r.predecessor.Contender(e.Path)
	}
	return e
}

// where gives the state and the node of the last transition.
func (r *request) where() (messages.State, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.node
}

// Hear takes a notice of the lock actor.
func (r *request) Hear(lock *actor.PID, notice any) {
	switch msg := notice.(type) {
	case *messages.Held:
		r.lease = newLease(r.from, r.values, lock, msg)
		r.lease.tellLoss()
		r.from.client.open.add(r.lease, r.stack)
		r.reply(answer{lease: r.lease})
	case *messages.Suspended:
		r.lease.suspended(msg.Until)
	case *messages.Resumed:
		r.lease.resumed(msg.Until)
	case *messages.RevokeRequested:
		r.lease.revokeRequested(msg.Deadline)
	case *messages.Revoked:
		r.lease.end(ErrRevoked)
	case *messages.Released:
		r.finish(nil)
	case *messages.Lost:
		r.finish(r.fault(msg.Reason, msg.Detail, ErrLost))
	case *messages.Deadlocked:
		r.gaveUp = &DeadlockError{msg.Deadlock}
	case *messages.Cancelled:
		r.finish(r.cancelled(msg))
	case *messages.Failed:
		r.finish(r.failed(msg))
	case *actor.Stopped:
		if !r.over { // it has not ended in order
			usual := ErrFailed // it never held
			if r.lease != nil {
				usual = ErrLost
			}
			r.finish(r.fault(messages.ReasonStopped, "", usual))
		}
		r.from.client.requests.Done()
		if r.from.requests != nil {
			r.from.requests.Done()
		}
	}
}

// finish takes the end of the request, once.
func (r *request) finish(err error) {
	if r.over {
		return
	}
	r.over = true
	if r.lease != nil {
		r.lease.finish(err)
	}
	r.reply(answer{err: err})
}

// failed makes the error of a request that could not be carried out. The lock actor has checked the
// request and gives its fault in words: CheckAcquire gives that as an error to test
// for.
func (r *request) failed(msg *messages.Failed) error {
	if msg.Reason == messages.ReasonBadInput {
		if err := actors.CheckAcquire(r.from.want); err != nil {
			return &Error{Op: "lock", Path: r.from.want.Path, Err: err}
		}
	}
	return r.fault(msg.Reason, msg.Detail, ErrFailed)
}

// cancelled makes the error of a request that ended before it held. It never wraps context.Canceled:
// a caller that gives up does not wait for this answer, so that somebody else has ended the request,
// through its lock actor.
func (r *request) cancelled(end *messages.Cancelled) error {
	if end.Reason == messages.ReasonDeadlock && r.gaveUp != nil {
		return r.fault(end.Reason, "", r.gaveUp)
	}
	return r.fault(end.Reason, end.Detail, ErrFailed)
}

// reply answers Lock, once.
func (r *request) reply(a answer) {
	if !r.answered {
		r.answered, r.answer = true, a
		close(r.settled)
	}
}

// fault makes the error of a request that has ended for a reason.
func (r *request) fault(reason messages.Reason, detail string, usual error) error {
	state, node := r.where()
	return r.from.fault(state, node, reason, detail, usual)
}

// fault makes the error of a request that has ended for a reason.
func (l *lock) fault(state messages.State, node string, reason messages.Reason, detail string, usual error) error {
	err := sentinel(reason, usual)
	if reason == messages.ReasonSessionClosed {
		err = l.client.whyClosed()
	}
	if usual == ErrLost && err != ErrLost { // it is lost all the same
		err = errors.Join(ErrLost, err)
	}
	return &Error{Op: "lock", Path: l.want.Path, Node: node, State: state, Reason: reason, Detail: detail, Err: err}
}
