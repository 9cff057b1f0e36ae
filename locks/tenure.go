package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// tenure is the shell of term.Machine for callers that block: Do, RunOnce, RunOnceFor and
// Election.Run. It runs on the caller's goroutine. The end of a lease ends the work's context by
// itself; the machine hears of it when the work has ended.
type tenure struct {
	ctx   context.Context // the caller's
	lease *Lease          // of the newest term; nil before it is held
	term.Clocked
	candidacy
}

// serve carries out what the machine says until it has ended. It leaves the error of the last
// campaign, or of the term that followed it, in candidacy.
//
// campaign waits for the lock. With an error and a lease the lock is held, and no work is to begin.
// work calls the user's function by call.
func (t *tenure) serve(ctx context.Context, policy term.Policy,
	campaign func(context.Context) (*Lease, error), work func(context.Context) error) {
	t.ctx, t.Policy = ctx, policy
	defer t.leave()
	for ev := (term.Event{Kind: term.Begin}); ; {
		for _, effect := range t.step(ev) {
			switch effect {
			case term.Campaign:
				t.lease, t.err = campaign(ctx)
				ev = t.acquired()
			case term.StartWork:
				t.begins()
				t.err = work(ctx)
				ev = term.Event{Kind: term.WorkEnded, Valid: t.look() == nil, Passes: t.passes()}
			case term.Release:
				_ = t.lease.Unlock(context.Background()) // bounded by the lease
				ev = term.Event{Kind: term.LockEnded, Passes: t.passes()}
			case term.NoPause, term.Pause, term.LongPause:
				ev = t.pause(effect)
			case term.Finish:
				return
			}
		}
	}
}

// leave gives the lock back without waiting where the user's function has panicked or ended its
// goroutine.
func (t *tenure) leave() {
	if t.Phase != term.Ended && t.lease != nil {
		t.lease.Release()
	}
}

// acquired says how a campaign has ended.
func (t *tenure) acquired() term.Event {
	switch {
	case t.lease == nil:
		return term.Event{Kind: term.LockEnded, Passes: !t.callerGone() && t.passes()}
	case t.err != nil:
		return term.Event{Kind: term.Declined}
	case t.lease.Valid():
		return term.Event{Kind: term.Held, Valid: true}
	}
	t.begins()
	outcome, lost := t.lease.lapse()
	t.err = t.lease.cutShort(t.ctx, lost, nil)
	return term.Event{Kind: term.Lapse, Outcome: outcome}
}

// step tells the machine what has happened, and before that an end of the caller's ctx, with which
// the work's has ended.
func (t *tenure) step(ev term.Event) []term.Effect {
	if t.Phase > term.Campaigning && t.Phase != term.Ended && t.callerGone() {
		if effects := t.Step(term.Event{Kind: term.Stop}); t.Phase == term.Ended {
			return effects
		}
	}
	return t.Step(ev)
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
	case <-time.After(t.Length(pause)):
		return term.Event{Kind: term.PauseOver}
	case <-t.ctx.Done():
		t.callerGone()
		return term.Event{Kind: term.Stop}
	}
}

// call calls a function of the user, unless the lease is over. The function's context lies within
// the lease, and ends with ctx and with the lease. The error says whether the lease ended before
// the function returned.
func (t *tenure) call(ctx context.Context, do func(context.Context, Token) error) (err error) {
	within, end := t.lease.bind(ctx)
	defer end()
	if t.lease.Valid() {
		err = do(within, t.lease.Token())
	}
	if lost := t.look(); lost != nil && !errors.Is(lost, ErrReleased) {
		return t.lease.cutShort(ctx, lost, err)
	}
	return err
}

// look tells the machine of the end of a lease that is over, and gives its cause; nil for one that is valid.
func (t *tenure) look() (lost error) {
	if t.lease.Valid() {
		return nil
	}
	outcome, lost := t.lease.lapse()
	t.step(term.Event{Kind: term.Lapse, Outcome: outcome})
	return lost
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
