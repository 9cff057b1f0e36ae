package locks

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

func (l *lock) acquire(ctx context.Context) (lease *Lease, err error) {
	if l.client.tracer != nil {
		_, span := l.startSpan(ctx, "turnstile.lock.acquire", trace.SpanKindClient)
		defer func() {
			if lease != nil {
				span.granted(lease)
				lease.trace()
			}
			span.end(err)
		}()
	}
	l, within, err := l.within(ctx)
	if err != nil && l.wrong == nil && len(l.observers) > 0 { // so that they hear of the refusal
		l.client.session.SpawnLock(&l.want.Acquire, nil, l.observers)
	}
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ended(ctx)
	case l.client.over.Load():
		err = ErrClosed
	}
	if err != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: err}
	}
	if l.requests != nil {
		l.requests.Add(1)
		defer l.requests.Done()
	}
	asked := &Lease{from: l, values: ctx}
	if open := l.client.open; open != nil {
		asked.stack = debug.Stack()
	}
	k := (*call)(asked)
	if answered := k.begin(within); answered != nil {
		select {
		case <-answered:
			l.client.signals.Put(answered)
		case <-ctx.Done():
			return nil, k.giveUp(ctx, answered)
		}
	}
	if k.hold == nil {
		return nil, k.err
	}
	return asked, nil
}

func (k *call) giveUp(ctx context.Context, answered chan struct{}) error {
	c := k.from.client
	waited := k.withdraw()
	if !waited {
		<-answered
	}
	c.signals.Put(answered)
	if !waited && k.hold == nil {
		return k.err
	}
	err := k.timedOut(c.session.Explain(ended(ctx)))
	if waited {
		c.calls.Withdraw(k.call, reasonOf(ctx))
	} else {
		(*Lease)(k).release()
	}
	return err
}

func reasonOf(ctx context.Context) messages.Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return messages.ReasonTimeout
	}
	return messages.ReasonCancelled
}

// within gives the lock as asked for within the leases of ctx, and the innermost of those that is
// of the same lock.
func (l *lock) within(ctx context.Context) (inner *lock, of *Lease, err error) {
	around := LeaseOf(ctx)
	if around == nil {
		return l, nil, l.fault
	}
	copied := *l
	copied.want.Caller = around.caller()
	for held := around; held != nil; held = held.outer() {
		if held.from.sameLock(l) && !held.isOver() {
			of = held
			if l.want.Reentry || l.want.Mode == messages.Read {
				held.shared.Store(true) // before anything is written under it
			}
			break
		}
	}
	copied.prepare()
	return &copied, of, copied.fault
}

func (l *lock) prepare() {
	l.want.Alone = l.use == forElection || len(l.observers) > 0 || l.requests != nil
	if l.fault = l.wrong; l.fault == nil {
		l.fault = l.checkRequest()
	}
}

// call is a lease as package sharing knows it: a call of Lock until it has given back.
type call Lease

// begin makes the call. It gives the channel that tells of the answer; nil where there is one.
func (k *call) begin(within *Lease) (answered chan struct{}) {
	l := k.from
	var of turns.CallID
	if within != nil {
		of, k.nested = within.call, true
	}
	var who sharing.Call = k
	if l.onChange != nil {
		who = &waiter{call: k}
	}
	id := l.client.calls.Call(&l.want, of, who)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answered { // others may look at it
		return nil
	}
	k.call = id
	if k.waiter, _ = l.client.signals.Get().(chan struct{}); k.waiter == nil {
		k.waiter = make(chan struct{}, 1)
	}
	return k.waiter
}

// waiter is a call whose WithOnChange hears whom it waits for.
type waiter struct {
	*call
	behind messages.Contender // told last; guarded by mu
}

func (w *waiter) Behind(contender messages.Contender) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered || reflect.DeepEqual(contender, w.behind) {
		return
	}
	w.behind = contender
	w.from.client.changes.Offer(func() { // behind calls that may take long
		w.mu.Lock()
		waits := !w.answered
		w.mu.Unlock()
		if waits {
			w.from.onChange(Change{Kind: Waiting, Behind: contender})
		}
	}, told.Most)
}

// withdraw notes that the caller has gone; false where there is an answer. A later grant ends
// untold.
func (k *call) withdraw() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answered {
		return false
	}
	k.answered, k.waiter = true, nil
	k.cause, k.isEnded = ErrReleased, true
	return true
}

// settle notes the answer to Lock; k.mu is held.
func (k *call) settle() {
	k.answered = true
	if k.waiter != nil {
		k.waiter <- struct{}{}
		k.waiter = nil
	}
}

func (k *call) Granted(id turns.CallID, hold *sharing.Hold, token Token) func() {
	l := (*Lease)(k)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hold = hold
	if k.answered { // its caller has gone; Told may look at the hold
		return nil
	}
	k.call, k.token = id, token
	if k.from.maxHold > 0 {
		l.boundHold(k.from.maxHold)
	}
	if open := k.from.client.open; open != nil {
		open.add(l)
	}
	k.settle()
	return nil
}

func (k *call) Refused(why messages.Reason, detail string, more sharing.More) {
	err := k.from.faulty(stateOf(why), "", why, detail)
	err.Permits = more.Permits
	switch {
	case more.Deadlock != nil:
		err.Detail, err.Err = "", &DeadlockError{*more.Deadlock}
	case why == messages.ReasonBadInput && k.from.fault != nil:
		err = &Error{Op: "lock", Path: k.from.want.Path, Err: k.from.fault}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answered {
		return
	}
	k.err = err
	k.settle()
}

func stateOf(why messages.Reason) messages.State {
	switch why {
	case messages.ReasonNotAcquired, messages.ReasonTimeout, messages.ReasonCancelled, messages.ReasonDeadlock, messages.ReasonReleased,
		messages.ReasonOwnerGone:
		return messages.StateCancelled
	case messages.ReasonStopped:
		return messages.StateReleasing
	}
	return messages.StateFailed
}

func (k *call) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	l := (*Lease)(k)
	switch state {
	case messages.StateRecovering:
		k.suspended.Store(true)
		l.tellSuspended(k.hold.Clock.Deadline())
	case messages.StateReleasing:
		l.end(ErrRevoked)
	case messages.StateReleased, messages.StateCancelled:
		l.finish(nil)
	case messages.StateLost, messages.StateFailed:
		l.finish(k.from.faulty(state, k.hold.Node, why, detail))
	default:
		if k.suspended.CompareAndSwap(true, false) {
			l.tellResumed(k.hold.Clock.Deadline())
		} else if state == messages.StateRevoking {
			l.revokeRequested(until)
		}
	}
}

func (k *call) Troubled(text string) { k.trouble.Store(&text) }

func (k *call) Observers() []*actor.PID { return k.from.observers }

func (k *call) Path() string { return k.from.want.Path }

func (k *call) LockActors() *sync.WaitGroup { return k.from.requests }

func (k *call) timedOut(why error) error {
	at := k.from.client.calls.Where(k.call)
	return &Error{Op: "lock", Path: k.from.want.Path, Node: at.Node, State: at.State, Detail: at.Trouble, Behind: at.Behind, Err: why}
}

func (l *lock) faulty(state messages.State, node string, reason messages.Reason, detail string) *Error {
	err := sentinel(reason)
	if reason == messages.ReasonSessionClosed {
		err = l.client.whyClosed()
	}
	switch {
	case state != messages.StateLost:
	case errors.Is(err, ErrFailed), errors.Is(err, ErrLost):
		err = ErrLost
	default: // it is lost all the same
		err = errors.Join(ErrLost, err)
	}
	return &Error{Op: "lock", Path: l.want.Path, Node: node, State: state, Reason: reason, Detail: detail, Err: err}
}
