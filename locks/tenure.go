package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// tenure is the shell of term.Machine for callers that block: Do, RunOnce, RunOnceFor and
// Election.Run. The effects are carried out on the caller's goroutine, but the end of the work's
// context may come from another one.
type tenure struct {
	user
	ctx     context.Context
	begun   time.Time
	longest func() time.Duration // the longest pause now; nil for one term
	pauses  *term.Pauses         // nil for one term
	candidacy

	mu    sync.Mutex
	m     term.Machine
	lease *Lease                  // of the newest term; nil before it is held
	cause error                   // of the end of that lease; nil before that is known
	end   context.CancelCauseFunc // ends the context of the newest call; nil before it
}

type user interface {
	campaign(ctx context.Context) (*Lease, error)
	// decline says why no work is to begin under a new lease; nil where it is.
	decline(ctx context.Context, lease *Lease) error
	// work is done under the lease. It calls the user's function by tenure.call.
	work(ctx context.Context) error
}

// serve carries out what the machine says until it has ended. The error of the last campaign or
// term is left in candidacy.
func (t *tenure) serve(ctx context.Context, by user, policy term.Policy) {
	t.ctx, t.user, t.m.Policy = ctx, by, policy
	defer t.leave()
	for ev := (term.Event{Kind: term.Begin}); ; {
		for _, effect := range t.step(ev) {
			switch effect {
			case term.Campaign:
				ev = t.acquire()
			case term.StartWork:
				t.begins()
				t.err = t.work(t.ctx)
				ev = term.Event{Kind: term.WorkEnded, Valid: t.look(t.lease), Passes: t.passes()}
			case term.Release:
				_ = t.lease.Unlock(context.Background()) // bounded by the lease
				ev = term.Event{Kind: term.LockEnded, Passes: t.passes()}
			case term.NoPause, term.ShortestPause, term.LongerPause, term.LongPause:
				ev = t.pause(effect)
			case term.Finish:
				return
			}
		}
	}
}

// leave gives the lock back, and does not wait, where the user's function has panicked or has ended
// its goroutine. Otherwise the machine has ended, and ignores this.
func (t *tenure) leave() {
	for _, kind := range [...]term.Kind{term.Stop, term.WorkEnded} {
		for _, effect := range t.step(term.Event{Kind: kind}) {
			if effect == term.Release && t.lease != nil {
				t.lease.Release()
			}
		}
	}
}

func (t *tenure) acquire() term.Event {
	t.hold(nil)
	lease, err := t.campaign(t.ctx)
	if err != nil {
		t.err = err
		return term.Event{Kind: term.LockEnded, Passes: !t.callerGone() && t.passes()}
	}
	t.hold(lease)
	if t.err = t.decline(t.ctx, lease); t.err != nil {
		return term.Event{Kind: term.Declined}
	}
	if lease.Valid() {
		return term.Event{Kind: term.Held, Valid: true}
	}
	t.begins()
	outcome, cause := lease.lapse()
	t.err = lease.termError(t.ctx, outcome, cause, nil)
	return term.Event{Kind: term.Lapse, Outcome: outcome}
}

func (t *tenure) hold(lease *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lease, t.cause, t.end = lease, nil, nil
}

func (t *tenure) step(ev term.Event) []term.Effect {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.happened(ev, nil)
}

// tell tells the machine what has happened to a lease while work runs under it. The work's context
// may end then, with this cause. Events after the work, or after its term, are dropped.
func (t *tenure) tell(of *Lease, ev term.Event, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease != of || t.m.Phase <= term.Campaigning || t.m.Phase >= term.Releasing {
		return
	}
	if ev.Kind == term.Lapse && t.cause == nil {
		t.cause = cause
	}
	t.happened(ev, cause)
}

// happened tells the machine, under the mutex, what has happened, and before that the end of the
// caller's ctx, if it has ended. It ends the work's context where the machine says so.
func (t *tenure) happened(ev term.Event, cause error) []term.Effect {
	if t.m.Terms == term.Many {
		ev.At, ev.Longest = time.Since(t.begun), t.longest()
	}
	if t.m.Phase > term.Campaigning && t.m.Phase != term.Ended && t.callerGone() {
		effects := t.endContext(t.m.Step(term.Event{Kind: term.Stop}), context.Cause(t.ctx))
		if t.m.Phase == term.Ended {
			return effects
		}
	}
	return t.endContext(t.m.Step(ev), cause)
}

func (t *tenure) endContext(effects []term.Effect, cause error) []term.Effect {
	if len(effects) == 0 || effects[0] != term.EndContext {
		return effects
	}
	if t.end != nil {
		t.end(cause)
	}
	return effects[1:]
}

func (t *tenure) callerGone() bool {
	if t.gone == nil && t.ctx.Err() != nil {
		t.gone, t.ended = ended(t.ctx), t.ctx.Err()
	}
	return t.gone != nil
}

func (t *tenure) pause(pause term.Effect) term.Event {
	t.goesOn()
	select {
	case <-time.After(t.pauses.Next(pause, t.longest())):
		return term.Event{Kind: term.PauseOver}
	case <-t.ctx.Done():
		t.callerGone()
		return term.Event{Kind: term.Stop}
	}
}

// call calls a function of the user, unless the lease is over. The function's context lies within
// the lease, and ends with ctx, with the lease, or when the machine says so. The error says whether
// the lease ended before the function returned.
func (t *tenure) call(ctx context.Context, do func(context.Context, Token) error) error {
	lease := t.lease
	within, end := lease.within(ctx)
	t.mu.Lock()
	t.end = end
	t.mu.Unlock()
	stop := context.AfterFunc(lease.Context(), func() { t.look(lease) })
	defer func() {
		stop()
		end(nil)
	}()
	var err error
	if t.look(lease) {
		err = do(within, lease.Token())
	}
	t.look(lease)
	t.mu.Lock()
	outcome, cause := t.m.Outcome, t.cause
	t.mu.Unlock()
	return lease.termError(ctx, outcome, cause, err)
}

// look tells the machine of the end of a lease that is over, and reports whether it is valid.
func (t *tenure) look(lease *Lease) (valid bool) {
	if lease.Valid() {
		return true
	}
	outcome, cause := lease.lapse()
	t.tell(lease, term.Event{Kind: term.Lapse, Outcome: outcome}, cause)
	return false
}

func (l *Lease) lapse() (term.Outcome, error) {
	switch cause := l.why(); {
	case cause == nil: // the clock knows before the context
		return term.LeaseLost, ErrLost
	case errors.Is(cause, ErrReleased): // the work has given it back
		return term.GivenBack, cause
	case errors.Is(cause, ErrLost):
		return term.LeaseLost, cause
	default:
		return term.Taken, cause
	}
}

// termError is the error of work whose term has this outcome. ctx is the caller's, cause that of
// the end of the lease.
func (l *Lease) termError(ctx context.Context, outcome term.Outcome, cause, err error) error {
	switch {
	case outcome == term.LeaseLost || outcome == term.Taken:
		return l.cutShort(ctx, cause, err)
	case outcome == term.Revoked && !errors.Is(err, ErrRevoked):
		return l.cutShort(ctx, ErrRevoked, err)
	}
	return err
}

// cutShort is the error of work that went on after the lease had ended. ctx is the caller's.
func (l *Lease) cutShort(ctx context.Context, lost, err error) error {
	if ctx.Err() == nil {
		err = notCallers(err)
	}
	var e *Error
	if errors.As(lost, &e) { // each fact once
		lost = e.Err
	}
	switch {
	case errors.Is(err, lost):
		return err
	case err != nil:
		lost = fmt.Errorf("%w; the work returned: %w", lost, err)
	}
	short := &Error{Op: "hold", Path: l.Path(), Node: l.Node(), Err: lost}
	if e != nil {
		short.Reason, short.Detail = e.Reason, e.Detail
	}
	return short
}
