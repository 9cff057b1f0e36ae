package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// farthestAhead is how far an instant may be ahead of the servers' clock. The clocks of replicas that wake up early may be
// ahead; an instant of next month, as by a mistake, would have all that come until then refused as superseded.
const farthestAhead = time.Minute

// runFor calls the work for the instants that are due, and marks each of them before and after.
func (j *job) runFor(ctx context.Context, work func(context.Context, Token) error) error {
	if due, err := j.look(ctx); err != nil || !due {
		return err
	}
	missed, left := j.missed(ctx)
	j.once.Missed = left
	var failed []error
	for _, at := range append(missed, j.instant) {
		if ctx.Err() != nil && j.once.Outcome == OnceRan {
			failed = append(failed, ended(ctx))
			break
		}
		goesOn, err := j.runInstant(ctx, at, work)
		if err != nil {
			failed = append(failed, err)
		}
		if !goesOn {
			break
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

// runInstant calls the work for one instant, and tells whether the next one may follow.
func (j *job) runInstant(ctx context.Context, at time.Time, work func(context.Context, Token) error) (goesOn bool, err error) {
	j.at = at
	if err := j.mark(ctx, MarkBegun); err != nil {
		return false, err
	}
	acks := &acks{}
	within := context.WithValue(context.WithValue(ctx, jobKey{}, acks), instantKey{}, at)
	err = j.lease.run(within, func(ctx context.Context) error {
		j.once.Outcome = OnceRan
		return work(ctx, j.lease.Token())
	})
	told := ctx.Err() != nil // to end, as by SIGTERM: another may run at once, if at all
	ops := acks.close()
	ctx = context.WithoutCancel(ctx)
	switch {
	case err == nil:
		err = j.mark(ctx, MarkDone, ops...)
		return err == nil, err
	case told || !j.lease.Valid():
		return false, err
	}
	if unmarked := j.mark(ctx, MarkFailed); unmarked != nil {
		return false, fmt.Errorf("%w; and that it failed is not marked: %w", err, unmarked)
	}
	return !j.retries, err
}

// judgeInstant reports whether the work is due by the mark that was read. The error says why it is not run at all.
func (j *job) judgeInstant(data []byte, written time.Time) (due bool, err error) {
	j.once = Once{}
	if len(data) > 0 {
		if j.once.Mark, err = readMark(data, written); err != nil {
			return false, &Error{Op: "run", Path: j.path, Err: err}
		}
	}
	switch last := j.once.Mark; {
	case last.State == "":
	case last.For.IsZero(): // of RunOnce
		if last.State != MarkFailed && !j.instant.After(last.Began) {
			j.once.Outcome = OnceAlreadyRan
			return false, nil
		}
	case last.For.After(j.instant):
		j.once, err = superseded(j.once, j.path, j.instant)
		return false, err
	case last.For.Before(j.instant):
	case last.State == MarkDone || !j.retries:
		j.once.Outcome = OnceAlreadyRan
		return false, nil
	case last.State == MarkFailed:
		if j.once.Left = j.retryAfter - max(j.began.Sub(last.Written), 0); j.once.Left > 0 {
			j.once.Outcome = OnceNotDue
			return false, nil
		}
		j.once.Left = 0
	}
	return j.judgeTime()
}

// judgeTime reports whether it is time for the instant.
func (j *job) judgeTime() (due bool, err error) {
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

// missed gives the instants before this one that nobody has run the work for and that are to be caught up, the oldest
// first, and how many others there are.
func (j *job) missed(ctx context.Context) (catchUp []time.Time, left int) {
	last := j.once.Mark
	from := last.For
	if from.IsZero() {
		from = last.Began // of RunOnce
	}
	if !j.catchesUp || last.State == "" || !from.Before(j.instant) {
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
