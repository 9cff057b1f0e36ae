package locks

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Once is what became of a RunOnce or a RunOnceFor.
type Once struct {
	// Outcome says whether the work was called, and if not, why.
	Outcome OnceOutcome
	// Mark tells of the newest run that is known: where the work was called and its mark is written it is that of this
	// run, otherwise the one that there was before. Its State is "" where there was none, or it was not looked at.
	Mark Mark
	// Left is how long it is, by the servers' clock, until the work is due; zero unless the outcome is OnceNotDue.
	Left time.Duration
	// Holder is who is at it, where the outcome is OnceBusy; the zero value when nobody was any more, or it is not known.
	Holder messages.Contender
	// Missed is how many instants since the last run were left out: see WithCatchUp.
	Missed int
}

// OnceOutcome is what a RunOnce or a RunOnceFor came to. It is "" where the work was not called because of an error.
type OnceOutcome string

// The outcomes. Those of instants are RunOnceFor's alone.
const (
	// OnceRan: the work was called, and has returned.
	OnceRan OnceOutcome = "ran"
	// OnceNotDue: somebody has run within the period, or has failed within that of WithRetryAfter: see Once.Mark. Or the
	// instant is to come.
	OnceNotDue OnceOutcome = "not due"
	// OnceBusy: somebody is at it now, or waits for it.
	OnceBusy OnceOutcome = "busy"
	// OnceAlreadyRan: somebody has run it for this instant.
	OnceAlreadyRan OnceOutcome = "already ran"
	// OnceSuperseded: it was run, or begun, for a newer instant.
	OnceSuperseded OnceOutcome = "superseded"
	// OnceTooLate: the instant is too long ago (WithStartDeadline).
	OnceTooLate OnceOutcome = "too late"
)

// jobOptions are the options of RunOnce and RunOnceFor.
type jobOptions struct {
	markFirst, waits bool
	retryAfter       time.Duration
	retries          bool // WithRetryAfter was given, be it zero

	startDeadline time.Duration
	catchesUp     bool // WithCatchUp was given
	next          func(time.Time) time.Time
	most          int
}

// WithMarkFirst has RunOnce write the mark before it calls the work, and not after: the work is done once in a period
// at most, and not at all when the process dies or loses the lock in between. Use it where a second time does more harm than none. It
// excludes WithRetryAfter and AckWith. RunOnceFor refuses it, because it always marks first, and again afterwards.
func WithMarkFirst() OnceOption { return onceOption(func(l *lock) { l.job.markFirst = true }) }

// WithRetryAfter has RunOnce mark work that failed, too, so that nobody tries again for d. Use it where work that
// fails would fail again at once. d is counted from the end of the failed work, with the d of who asks. It is not for
// a loss of the lock, or work whose caller's ctx has ended: there is no mark then. Zero, the default, lets the next one run at once.
//
// RunOnceFor by itself runs work that has failed no second time for the same instant. With this option the next one to
// ask does, when d has passed since the failure, which may be zero; and at once where the process that ran it died, lost
// the lock, or was told to end.
func WithRetryAfter(d time.Duration) OnceOption {
	return onceOption(func(l *lock) { l.job.retryAfter, l.job.retries = d, true })
}

// WithWaiting has RunOnce wait for whoever is at it, and look then whether there is still something to do. Use it where
// work that fails elsewhere is to be taken on at once.
func WithWaiting() OnceOption { return onceOption(func(l *lock) { l.job.waits = true }) }

// checkJob refuses what cannot be done before anything is sent.
func (l *lock) checkJob(period time.Duration) error {
	switch {
	case l.client.Session() == nil:
		return ErrNeedsSession
	case period < 0:
		return fmt.Errorf("%w: a period of %v", ErrBadAcquire, period)
	}
	return l.wrong
}
