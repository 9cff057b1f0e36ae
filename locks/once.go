package locks

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Once is what became of a RunOnce.
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
}

// OnceOutcome is what a RunOnce came to. It is "" where the work was not called because of an error.
type OnceOutcome string

// The outcomes.
const (
	// OnceRan: the work was called, and has returned.
	OnceRan OnceOutcome = "ran"
	// OnceNotDue: somebody has run within the period, or has failed within that of WithRetryAfter: see Once.Mark.
	OnceNotDue OnceOutcome = "not due"
	// OnceBusy: somebody is at it now, or waits for it.
	OnceBusy OnceOutcome = "busy"
)

// WithMarkFirst has RunOnce write the mark before it calls the work, and not after: the work is done once in a period
// at most, and not at all when the process dies or loses the lock in between. Use it where a second time does more harm than none. It
// excludes WithRetryAfter and AckWith.
func WithMarkFirst() OnceOption { return onceOption(func(l *lock) { l.job.markFirst = true }) }

// WithRetryAfter has RunOnce mark work that failed, too, so that nobody tries again for d. Use it where work that
// fails would fail again at once. d is counted from the end of the failed work, with the d of who asks. It is not for
// a loss of the lock, or work whose caller's ctx has ended: there is no mark then. Zero, the default, lets the next one run at once.
func WithRetryAfter(d time.Duration) OnceOption {
	return onceOption(func(l *lock) { l.job.retryAfter = d })
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
