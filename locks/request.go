package locks

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// request is the adapter between a lock actor and a goroutine that waits in Lock: it listens to the lock actor and
// feeds a channel. It goes on until the lock actor has ended, so that a grant that arrives after the caller has gone
// is given back. Futures would lose replies (protoactor issue 1145).
type request struct {
	from   lock            // what was called
	values context.Context // the caller's values, without its end
	answer chan answer     // holds one, so that nobody ever blocks on it
	state  atomic.Uint32   // of the lock actor
	node   atomic.Pointer[string]

	// The rest belongs to the lock actor.
	lease    *Lease
	gaveUp   *DeadlockError // the deadlock that it gave up for
	answered bool
	over     bool
}

// answer is what Lock returns.
type answer struct {
	lease *Lease
	err   error
}

func newRequest(from lock, values context.Context) *request {
	r := &request{from: from, values: values, answer: make(chan answer, 1)}
	r.state.Store(uint32(messages.StateCreating))
	return r
}

// start spawns the lock actor.
func (r *request) start() *actor.PID {
	opts := []actors.LockOption{actors.WithListener(r)}
	if len(r.from.observers) > 0 {
		opts = append(opts, actors.WithObserver(r.from.observers...))
	}
	return r.from.client.system.Root.Spawn(r.from.client.session.NewLock(r.from.want, opts...))
}

// Moved notes where the request stands.
func (r *request) Moved(to messages.State, node string) {
	r.state.Store(uint32(to))
	if at := r.node.Load(); at == nil && node != "" || at != nil && *at != node {
		name := node // only then is it put on the heap
		r.node.Store(&name)
	}
}

// where is the state and the node that were last heard of.
func (r *request) where() (messages.State, string) {
	if node := r.node.Load(); node != nil {
		return messages.State(r.state.Load()), *node
	}
	return messages.State(r.state.Load()), ""
}

// Hear takes a notice of the lock actor.
func (r *request) Hear(lock *actor.PID, notice any) {
	switch msg := notice.(type) {
	case *messages.Held:
		r.lease = newLease(r.from, r.values, lock, msg)
		r.reply(answer{lease: r.lease})
	case *messages.Suspended:
		r.lease.span.happened("suspended")
	case *messages.Resumed:
		r.lease.span.happened("resumed")
	case *messages.RevokeRequested:
		r.lease.asked()
	case *messages.Revoked:
		r.lease.end(ErrRevoked)
	case *messages.Released:
		r.finish(nil)
	case *messages.Lost:
		r.finish(r.fault("lock", msg.Reason, msg.Detail, ErrLost))
	case *messages.Deadlocked:
		r.gaveUp = &DeadlockError{msg.Deadlock}
	case *messages.Cancelled:
		r.finish(r.cancelled(msg.Reason))
	case *messages.Failed:
		r.finish(r.failed(msg))
	case *actor.Stopped:
		r.finish(r.fault("lock", messages.ReasonStopped, "", ErrLost)) // unless it had ended in order
		r.from.client.requests.Done()
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
// request and tells in words what is wrong with it: CheckAcquire gives that as an error to test for.
func (r *request) failed(msg *messages.Failed) error {
	if msg.Reason == messages.ReasonBadInput {
		if err := actors.CheckAcquire(r.from.want); err != nil {
			return &Error{Op: "lock", Path: r.from.want.Path, Err: err}
		}
	}
	return r.fault("lock", msg.Reason, msg.Detail, ErrFailed)
}

// cancelled makes the error of a request that ended before it held.
func (r *request) cancelled(why messages.Reason) error {
	if why == messages.ReasonDeadlock && r.gaveUp != nil {
		return r.fault("lock", why, "", r.gaveUp)
	}
	return r.fault("lock", why, "", context.Canceled)
}

// reply answers Lock, once.
func (r *request) reply(a answer) {
	if !r.answered {
		r.answered = true
		r.answer <- a
	}
}

// fault makes the error of a request that has ended for a reason.
func (r *request) fault(op string, reason messages.Reason, detail string, usual error) error {
	state, node := r.where()
	err := sentinel(reason, usual)
	if usual == ErrLost && err != ErrLost { // lost, whatever else it was
		err = errors.Join(ErrLost, err)
	}
	return &Error{Op: op, Path: r.from.want.Path, Node: node, State: state, Reason: reason, Detail: detail, Err: err}
}
