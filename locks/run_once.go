package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// RunOnce calls work under the lock at key, unless somebody has done so within the period: the whole of a job that
// several replicas have in their schedules.
//
//	once, err := locks.RunOnce(ctx, client, "/jobs/nightly", 23*time.Hour, nightly)
//
// Who runs leaves a mark when work has returned nil: the node "ran" below key says who it was and when that began. The
// period is counted from there to now, both by the clock of the servers, who are asked for the time by a write (to the
// node "clock"): what the clocks of the clients show changes nothing. A schedule is not exact, so choose a period that
// is a little shorter than the time between two runs of it; and servers whose clocks differ make it as much longer or
// shorter when another of them becomes the leader. A mark from the servers' future counts as made now.
//
// The mark is written with Lease.Txn, and so only while the lock is held; AckWith adds what else is to be written with
// it. Thus the work is done at least once: when it fails, panics, or loses the lock, there is no mark, and whoever
// asks next runs it again, at once unless WithRetryAfter says otherwise. WithMarkFirst marks before the work: at most
// once.
//
// Who finds somebody else at it does not wait, and so does nothing when that one fails; WithWaiting waits for its turn
// and looks at the mark then. The context of work is as in Do; the lock is given back when it has returned.
//
// The error says what became of it, together with Once.Outcome:
//
//   - nil: OnceRan with the mark written, OnceNotDue, or OnceBusy.
//   - OnceRan, with the error of work: there is no mark. It wraps ErrLost, ErrRevoked or ErrMaxHold where the lease had
//     ended before work returned, and the error of work where there is one.
//   - OnceRan, with an error of Lease.Txn though work has returned nil: it is done, and the mark is not written
//     (ErrLost, or what the servers refused), or may be missing (ErrUnknownOutcome). The next to ask may do it again.
//   - "", with the error of Lock, of Lease.Txn, or of ctx: work was not called. With WithMarkFirst and
//     ErrUnknownOutcome the mark may be there, and this period pass without the work.
//
// A "ran" that is deleted while the work is under way is made anew with the mark. The error that tells to delete one, as
// after a clock that was wrong, comes only while the lock is held.
//
// A period or time below zero, and options that exclude each other, give ErrBadAcquire; a "ran" that is something else
// than a mark ErrFailed; a client over gateways ErrNeedsSession.
//
// The two nodes stay when nobody runs the job any more. Delete them, and the node at key, while nobody does (zkCli's
// deleteall): the next run begins anew.
func RunOnce(
	ctx context.Context, client *Client, key string, period time.Duration,
	work func(ctx context.Context, token Token) error, opts ...OnceOption,
) (Once, error) {
	l := newLockFor(forRunOnce, client, messages.Acquire{Path: key, Try: true}, opts)
	l.want.Try = !l.job.waits
	if err := l.checkJob(period); err != nil {
		return Once{}, &Error{Op: "run", Path: key, Err: err}
	}
	lease, err := l.acquire(ctx)
	switch {
	case errors.Is(err, ErrNotAcquired):
		return Once{Outcome: OnceBusy, Holder: client.holderOf(ctx, key)}, nil
	case err != nil:
		return Once{}, err
	}
	defer lease.Release() // also when work panics
	j := &job{lease: lease, path: key, period: period, jobOptions: l.job}
	j.judge = j.judgePeriod
	err = j.run(ctx, work)
	_ = lease.Unlock(context.WithoutCancel(ctx)) // bounded by the lease
	return j.once, err
}

// holderOf looks who holds a lock; the zero value where nobody does, or nobody can tell.
func (c *Client) holderOf(ctx context.Context, path string) messages.Contender {
	queue, _ := c.Queue(ctx, path)
	if at := slices.IndexFunc(queue, func(c messages.Contender) bool { return c.Holds }); at >= 0 {
		return queue[at]
	}
	return messages.Contender{}
}

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
