package locks

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// request is the adapter between a lock actor and a goroutine that waits in Lock: an actor that owns
// the lock actor as its child and feeds a channel. It lives until the lock actor has ended, so that a
// grant that arrives after the caller has gone is given back. Futures would lose replies (protoactor
// issue 1145).
type request struct {
	client    *Client
	want      messages.Acquire
	observers []*actor.PID
	values    context.Context // the caller's values, without its end
	pid       *actor.PID
	answer    chan answer // holds one, so that nobody ever blocks on it
	at        atomic.Pointer[messages.Transition]
	revoked   atomic.Bool // by force: set before anybody else can have the lock

	// The rest belongs to the actor.
	lock     *actor.PID
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

// giveUp is sent when the caller of Lock has gone; giveBack by Unlock; lockEnded by the request to
// itself.
type (
	giveUp    struct{}
	giveBack  struct{}
	lockEnded struct{}
)

func newRequest(c *Client, want messages.Acquire, observers []*actor.PID, values context.Context) *request {
	return &request{client: c, want: want, observers: observers, values: values, answer: make(chan answer, 1)}
}

func (r *request) props() *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return r })
}

// where is the last transition that was heard of.
func (r *request) where() messages.Transition {
	if t := r.at.Load(); t != nil {
		return *t
	}
	return messages.Transition{To: messages.StateCreating}
}

// Receive takes one message.
func (r *request) Receive(ctx actor.Context) {
	defer func() {
		if v := recover(); v != nil { // never let protoactor start it again: the lock actor would double
			ctx.Stop(ctx.Self())
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		observers := append([]*actor.PID{ctx.Self()}, r.observers...)
		r.lock = ctx.Spawn(actors.NewLock(r.client.session, r.want, actors.WithObserver(observers...),
			actors.WithRevokedMark(&r.revoked)))
		ctx.Watch(r.lock)
	case *giveUp:
		ctx.Send(r.lock, &messages.Cancel{})
	case *giveBack:
		ctx.Send(r.lock, &messages.Release{})
	case *messages.Transition:
		r.at.Store(msg)
	case *messages.Held:
		r.lease = newLease(r, ctx.ActorSystem().Root, ctx.Self(), msg)
		r.reply(answer{lease: r.lease})
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
		r.finish(r.fault("lock", msg.Reason, msg.Detail, ErrFailed))
	case *actor.Terminated:
		if msg.Who.Equal(r.lock) {
			// Terminated overtakes the last notices: look again behind them.
			ctx.Send(ctx.Self(), &lockEnded{})
		}
	case *lockEnded:
		r.finish(r.fault("lock", messages.ReasonStopped, "", ErrLost)) // unless it had ended in order
		ctx.Stop(ctx.Self())
	case *actor.Stopped:
		r.finish(r.fault("lock", messages.ReasonStopped, "", ErrLost))
		r.client.requests.Done()
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
	at := r.where()
	err := sentinel(reason, usual)
	if usual == ErrLost && err != ErrLost { // lost, whatever else it was
		err = errors.Join(ErrLost, err)
	}
	return &Error{Op: op, Path: r.want.Path, Node: at.Node, State: at.To, Reason: reason, Detail: detail, Err: err}
}
