package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// RunOnceFor calls work for an instant of a schedule, under the lock at key: a job that several
// replicas have in their schedules, and that is to run once each time it is due.
//
//	once, err := locks.RunOnceFor(ctx, client, "/jobs/nightly", at, nightly) // at: 02:00, which its scheduler has told
//
// The instant is the key, not the time of the call. So clocks, late replicas and fast work do not
// matter, and a run by hand for another instant moves nothing. All replicas must name the same
// instant, by time.Time.Equal: their scheduler's time of the tick, or the time rounded to it, not
// time.Now().
//
// The node "ran" below key has the newest instant that the work was begun for, and whether it was
// done, has failed, or neither. It is written before and after the work, with Lease.Txn; AckWith
// adds to the second. The work is called at most once for each instant, even when it has failed, or
// its process died or lost the lock in it; with WithRetryAfter it is called again then, at least
// once. Instants older than the newest are refused. A caller that comes while the work runs does
// not wait, unless WithWaiting.
//
// Once.Outcome says what happened. The error is nil, unless it is named:
//
//   - OnceRan: the work was called for the instant. The error is that of work, or the errors of all
//     calls where WithCatchUp made several; it wraps ErrLost, ErrRevoked or ErrMaxHold where the
//     lease had ended before work returned. An error of Lease.Txn though work has returned nil: it
//     is done, and not marked so, or may not be (ErrUnknownOutcome).
//   - OnceAlreadyRan: somebody ran it for this instant. Once.Mark says who, and whether it is done.
//   - OnceBusy: somebody runs it now: Once.Mark and Once.Holder. With ErrNotRun: an older instant is
//     run, or the lock is taken and not by a run.
//   - OnceNotDue: it has failed for this instant, and the time of WithRetryAfter is not over:
//     Once.Left. Or the instant is more than a minute ahead of the servers' clock: ErrNotRun.
//   - OnceSuperseded: it was begun for a newer instant: ErrNotRun.
//   - OnceTooLate: it is later than WithStartDeadline allows: ErrNotRun.
//   - "": the work was not called for the instant. The error is that of Lock, of Lease.Txn, or of
//     ctx, or wraps ErrLost, ErrRevoked or ErrMaxHold because the lease ended before. After
//     ErrUnknownOutcome, or a loss, the instant may be marked as begun, and passes without the work
//     unless WithRetryAfter has it called. ErrNotRun comes with the errors of calls for missed
//     instants (WithCatchUp) that have ended the run.
//
// A lock that is taken tells nothing of the instant: its holder may have died, or just begun. So the
// call waits until the mark says what is run, the node of the holder is gone (a dead one's goes when
// its session ends) and the lock can be asked for again, or ctx is done. It waits for two session
// timeouts at most, then for a program that holds the lock and is no run.
//
// MayPass is true for ErrNotRun where the lock is taken, missed instants came first, or the instant
// is to come.
//
// Times are by the servers' clock, as for RunOnce. A mark of RunOnce with the same key stands for
// all instants up to that run's begin, unless it failed: use both with one key only while you
// change over.
//
// Errors also wrap ErrBadAcquire for an instant before the year 1 or after 9999 and options that
// exclude each other, ErrFailed for a "ran" that is no mark, and ErrNeedsSession for a client over
// gateways.
func RunOnceFor(
	ctx context.Context, client *Client, key string, instant time.Time,
	work func(ctx context.Context, token Token) error, opts ...InstantOption,
) (Once, error) {
	var wrong error
	if year := instant.UTC().Year(); instant.IsZero() || year < 1 || year > 9999 {
		wrong = fmt.Errorf("%w: an instant of the year %d", ErrBadAcquire, year)
	}
	var refused time.Time
	for {
		l := newLock(forInstant, client, messages.Acquire{Path: key, Try: true}, opts)
		j := &job{from: &l, instant: instant, do: work}
		j.isDue, j.run = j.instantIsDue, j.runInstants
		once, err := j.serveOnce(ctx, wrong)
		if once.Outcome != OnceBusy || !errors.Is(err, ErrNotAcquired) {
			return once, err
		}
		if refused.IsZero() {
			refused = time.Now()
		}
		if once, again, err := j.awaitRun(ctx, refused.Add(2*client.Session().Timeout())); !again {
			return once, err
		}
	}
}

// InstantOf gives the instant that the work of a RunOnceFor is called for, from its ctx, in the
// location given. It is zero elsewhere.
func InstantOf(ctx context.Context) time.Time {
	at, _ := ctx.Value(instantKey{}).(time.Time)
	return at
}

type instantKey struct{}

// awaitRun waits until it is known what the lock is taken for, or it is to be asked for again.
//
// Replicas come together: the first has its node, and has not marked the instant yet. An error there
// would be one of every night, and a scheduler calls once for an instant: nobody would try again.
func (j *job) awaitRun(ctx context.Context, until time.Time) (once Once, again bool, err error) {
	once.Outcome = OnceBusy
	for pauses := retry.Taken.Begin(); ; {
		now, known, err := j.runElsewhere(ctx)
		if known {
			return now, false, err
		}
		var why error
		if ctx.Err() != nil { // and nothing was read
			why = ended(ctx)
		} else if once = now; !time.Now().Before(until) {
			why = fmt.Errorf("%w: the lock is taken, and its holder has begun no run for an instant", ErrAgain)
		}
		if why != nil {
			failed := notRun(j.path, j.instant, why)
			failed.Behind = once.Holder
			return once, false, failed
		}
		select {
		case <-time.After(pauses.Next()):
		case <-ctx.Done():
			continue
		}
		if once.Holder.Node == "" {
			return once, true, nil
		}
	}
}

// runElsewhere describes what the lock is taken for. It reads the mark before the holder: a begun
// mark with the number of that holder's node is of the run that is under way. known is false where
// the mark does not tell: the holder has not begun, has ended, or is no run for an instant.
func (j *job) runElsewhere(ctx context.Context) (once Once, known bool, err error) {
	c := j.from.client
	once.Outcome = OnceBusy
	now, _ := c.Session().Connection()
	data, stat, err := c.Session().Read(ctx, now.Epoch, j.path+"/"+markName)
	if err == nil || errors.Is(err, zkconn.ErrNoNode) {
		once.Mark, _ = readMark(data, stat.Mtime)
	}
	once.Holder = c.holderOf(ctx, j.path)
	switch mark := once.Mark; {
	case mark.For.IsZero():
		return once, false, nil
	case mark.State != MarkBegun || mark.Token.Zxid() != once.Holder.Token.Zxid():
		if mark.For.Equal(j.instant) && (mark.State == MarkDone || !j.retries) {
			return Once{Outcome: OnceAlreadyRan, Mark: mark}, true, nil
		}
		return once, false, nil
	case mark.For.After(j.instant):
		once, err = superseded(once, j.path, j.instant)
	case mark.until.Before(j.instant):
		err = notRun(j.path, j.instant,
			fmt.Errorf("%w: the run for %s is still going (%v)", ErrAgain, instantText(mark.For), mark))
	}
	return once, true, err
}

func superseded(once Once, key string, instant time.Time) (Once, error) {
	once.Outcome = OnceSuperseded
	return once, notRun(key, instant, fmt.Errorf("the newest run is %v", once.Mark))
}

func notRun(key string, instant time.Time, why error) *Error {
	return &Error{Op: "run", Path: key, Detail: "for " + instantText(instant), Err: fmt.Errorf("%w: %w", ErrNotRun, why)}
}

// farthestAhead bounds how far an instant may be ahead of the servers' clock, as a replica's may
// be: one of next month, by mistake, would supersede all until then.
const farthestAhead = time.Minute

func (j *job) runInstants(ctx context.Context) error {
	if due, err := j.readMark(ctx); err != nil || !due {
		return err
	}
	missed, left := j.missed(ctx)
	j.once.Missed = left
	var failed []error
	for n, at := range append(missed, j.instant) {
		if n > 0 && ctx.Err() != nil {
			failed = append(failed, ended(ctx))
			break
		}
		goesOn, err := j.runInstant(ctx, at)
		if err != nil {
			failed = append(failed, err)
		}
		if !goesOn {
			break
		}
	}
	if !j.at.Equal(j.instant) {
		failed = append(failed, notRun(j.path, j.instant, fmt.Errorf("%w: missed instants come first", ErrAgain)))
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

func (j *job) runInstant(ctx context.Context, at time.Time) (goesOn bool, err error) {
	j.at = at
	err = j.runMarked(context.WithValue(ctx, instantKey{}, at), true, true, true)
	failed := j.once.Mark.State == MarkFailed && j.once.Mark.For.Equal(at)
	return err == nil || failed && !j.retries, err
}

func (j *job) instantIsDue() (due bool, err error) {
	switch last := j.once.Mark; {
	case last.State == MarkNone:
	case last.For.IsZero(): // of RunOnce
		if last.State != MarkFailed && !j.instant.After(last.Began) {
			if err := j.isAhead(last.Began, farthestAhead); err != nil {
				return false, err
			}
			j.once.Outcome = OnceAlreadyRan
			return false, nil
		}
	case last.For.After(j.instant):
		if err := j.isAhead(last.For, farthestAhead); err != nil {
			return false, err
		}
		j.once, err = superseded(j.once, j.path, j.instant)
		return false, err
	case last.For.Before(j.instant):
	case last.State == MarkDone || !j.retries:
		j.once.Outcome = OnceAlreadyRan
		return false, nil
	case last.State == MarkFailed && j.isEarly():
		return false, nil
	}
	return j.timeIsDue()
}

func (j *job) timeIsDue() (due bool, err error) {
	ahead, late := j.instant.Sub(j.began), j.began.Sub(j.instant)
	switch {
	case ahead > farthestAhead:
		j.once.Outcome, j.once.Left = OnceNotDue, ahead
		return false, notRun(j.path, j.instant, fmt.Errorf("%w: the servers' clock is at %s", ErrAgain, instantText(j.began)))
	case j.startDeadline > 0 && late > j.startDeadline:
		j.once.Outcome = OnceTooLate
		return false, notRun(j.path, j.instant, fmt.Errorf("%v late, and WithStartDeadline allows %v (the newest run is %v)",
			late, j.startDeadline, j.once.Mark))
	}
	return true, nil
}

func (j *job) missed(ctx context.Context) (catchUp []time.Time, left int) {
	last := j.once.Mark
	from := last.For
	if from.IsZero() {
		from = last.Began // of RunOnce
	}
	if !j.catchesUp || last.State == MarkNone || !from.Before(j.instant) {
		return nil, 0
	}
	add := func(at time.Time) {
		switch tooLate := j.startDeadline > 0 && j.began.Sub(at) > j.startDeadline; {
		case tooLate || j.most == 0:
			left++
		case len(catchUp) == j.most:
			catchUp = append(catchUp[1:], at)
			left++
		default:
			catchUp = append(catchUp, at)
		}
	}
	if !last.For.IsZero() && last.State != MarkDone && j.retries {
		add(last.For.In(j.instant.Location()))
	}
	for at := j.next(from.In(j.instant.Location())); at.After(from) && at.Before(j.instant) && ctx.Err() == nil; at = j.next(at) {
		add(at)
		from = at
	}
	return catchUp, left
}
