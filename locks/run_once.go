package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// RunOnce calls work under the lock at key, unless somebody has done so within the period: a job
// that several replicas are to do "at most every 23 hours".
//
//	once, err := locks.RunOnce(ctx, client, "/jobs/nightly", 23*time.Hour, nightly)
//
// For jobs that are due at an instant, such as 02:00, use RunOnceFor. Here any run counts: after
// one by hand at 14:00 that of the next 02:00 is OnceNotDue, with a nil error.
//
// When work has returned nil it leaves a mark: the node "ran" below key names the process and when
// the run began. The period is counted from there to now, by the servers' clock, which a write to
// the node "clock" tells. Choose a period a little shorter than the schedule's. Where servers'
// clocks differ, a change of leader makes it as much longer or shorter. A mark from the future
// counts as made now.
//
// The mark is written with Lease.Txn, so only while the lock is held; AckWith adds other writes.
// The work is done at least once: when it fails, panics, or loses the lock, there is no mark, and
// the next caller runs it again, at once unless WithRetryAfter says otherwise. WithMarkFirst marks
// before the work: at most once. A caller that finds a run under way does not wait, unless
// WithWaiting. The context of work is as in Do.
//
// The error and Once.Outcome say what happened:
//
//   - nil: OnceRan with the mark written, OnceNotDue, or OnceBusy.
//   - OnceRan, with the error of work: there is no mark. It wraps ErrLost, ErrRevoked or ErrMaxHold
//     where the lease had ended before work returned.
//   - OnceRan, with an error of Lease.Txn though work has returned nil: it is done, and the mark is
//     not written (ErrLost, or the servers' refusal), or may be missing (ErrUnknownOutcome). The
//     next to ask may do it again.
//   - "": work was not called. The error is that of Lock, of Lease.Txn, or of ctx, or wraps
//     ErrLost, ErrRevoked or ErrMaxHold because the lease ended before. With WithMarkFirst and
//     ErrUnknownOutcome the mark may be there, and this period pass without the work.
//
// A "ran" that is deleted during the work is made anew with the mark. An error that tells to delete
// one, as after a wrong clock, comes only while the lock is held. Errors also wrap ErrBadAcquire
// for a period or time below zero and options that exclude each other, ErrFailed for a "ran" that
// is no mark, and ErrNeedsSession for a client over gateways.
//
// When nobody runs the job any more, delete the two nodes and the one at key (zkCli's deleteall).
func RunOnce(
	ctx context.Context, client *Client, key string, period time.Duration,
	work func(ctx context.Context, token Token) error, opts ...OnceOption,
) (Once, error) {
	l := newLock(forRunOnce, client, messages.Acquire{Path: key, Try: true}, opts)
	j := &job{from: &l, period: period, do: work}
	j.isDue, j.run = j.periodIsDue, j.runPeriod
	var wrong error
	if period < 0 {
		wrong = fmt.Errorf("%w: a period of %v", ErrBadAcquire, period)
	}
	once, err := j.serveOnce(ctx, wrong)
	if once.Outcome == OnceBusy {
		once.Holder, err = client.holderOf(ctx, key), nil
	}
	return once, err
}

func (j *job) runPeriod(ctx context.Context) error {
	if due, err := j.readMark(ctx); err != nil || !due {
		return err
	}
	return j.runMarked(ctx, j.markFirst, !j.markFirst, j.retryAfter > 0)
}

func (j *job) periodIsDue() (due bool, err error) {
	if err := j.isAhead(j.once.Mark.Began, j.period); err != nil {
		return false, err
	}
	return j.once.Mark.State == MarkNone || !j.isEarly(), nil
}

// isAhead refuses a mark of a time that is more than most ahead of the servers' clock.
func (j *job) isAhead(at time.Time, most time.Duration) error {
	ahead := at.Sub(j.began)
	if ahead <= most {
		return nil
	}
	return &Error{Op: "run", Path: j.path, Err: fmt.Errorf(
		"%w: the mark of the last run is %v ahead of the servers' clock: delete %s/%s if that clock was wrong",
		ErrFailed, ahead, j.path, markName)}
}
