package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// job is one RunOnce, or one RunOnceFor, that has the lock.
type job struct {
	jobOptions
	lease   *Lease
	path    string
	period  time.Duration // of RunOnce
	instant time.Time     // of RunOnceFor
	judge   func(data []byte, written time.Time) (due bool, err error)

	once    Once
	began   time.Time // by the servers' clock
	at      time.Time // the instant that it is at: this one, or one that it catches up; zero for RunOnce
	version int32     // of the mark's node
}

// acks are what AckWith adds to the mark of one call of the work.
type acks struct {
	mu   sync.Mutex
	ops  []Op
	over bool // none is taken any more
}

// close gives them, and takes no more.
func (a *acks) close() []Op {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	return a.ops
}

type jobKey struct{}

// AckWith adds ops to the transaction in which RunOnce or RunOnceFor writes its mark when the work has returned nil: they
// are carried out together, or none is. ctx is that of the work. It returns ErrBadAcquire where the work is not that of
// either, is of a RunOnce that marks first, or has returned. What is wrong with the ops is the error of RunOnce; then
// there is no mark either.
func AckWith(ctx context.Context, ops ...Op) error {
	a, _ := ctx.Value(jobKey{}).(*acks)
	if a == nil {
		return fmt.Errorf("%w: AckWith: no work whose mark follows", ErrBadAcquire)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return fmt.Errorf("%w: AckWith: the work has returned, or was marked first", ErrBadAcquire)
	}
	a.ops = append(a.ops, ops...)
	return nil
}

// run does the work if it is due, and marks it.
func (j *job) run(ctx context.Context, work func(context.Context, Token) error) error {
	if due, err := j.look(ctx); err != nil || !due {
		return err
	}
	if j.markFirst {
		if err := j.mark(ctx, MarkBegun); err != nil {
			return err
		}
	}
	acks := &acks{over: j.markFirst}
	err := j.lease.run(context.WithValue(ctx, jobKey{}, acks), func(ctx context.Context) error {
		j.once.Outcome = OnceRan
		return work(ctx, j.lease.Token())
	})
	told := ctx.Err() != nil // to end, as by SIGTERM: another may run at once
	switch ctx = context.WithoutCancel(ctx); {
	case j.markFirst || j.once.Outcome != OnceRan:
		return err
	case err == nil:
		return j.mark(ctx, MarkDone, acks.close()...)
	case j.retryAfter > 0 && !told && j.lease.Valid():
		if unmarked := j.mark(ctx, MarkFailed); unmarked != nil {
			return fmt.Errorf("%w; and that it failed is not marked: %w", err, unmarked)
		}
	}
	return err
}

// look finds out whether the work is due: it reads the mark, and has the servers tell the time.
func (j *job) look(ctx context.Context) (due bool, err error) {
	ctx, done := j.lease.outlast(ctx)
	defer done()
	if j.began, err = j.now(ctx); err != nil {
		return false, err
	}
	for {
		// After that write: the server that has answered it shows what the holders before have written.
		data, stat, err := j.read(ctx)
		if err != nil {
			return false, err
		}
		j.version = stat.Version
		due, wrong := j.judge(data, stat.Mtime)
		if wrong == nil {
			return due, nil
		}
		// Perhaps the lock is lost, as by an operator, and another holder has written that. People are told to delete marks
		// only while the lock is held, because the job would run twice otherwise.
		_, err = j.txn(ctx, Check(j.path+"/"+markName, stat.Version))
		switch {
		case err == nil:
			return false, wrong
		case !errors.Is(err, zkconn.ErrNoNode) && !errors.Is(err, zkconn.ErrBadVersion):
			j.once = Once{}
			return false, err
		}
	}
}

// judgePeriod reports whether the work is due by the mark that was read. The error says what is wrong with it.
func (j *job) judgePeriod(data []byte, written time.Time) (due bool, err error) {
	j.once = Once{}
	if len(data) == 0 {
		return true, nil
	}
	if j.once.Mark, err = readMark(data, written); err != nil {
		return false, &Error{Op: "run", Path: j.path, Err: err}
	}
	if ahead := j.once.Mark.Began.Sub(j.began); ahead > j.period {
		return false, &Error{Op: "run", Path: j.path, Err: fmt.Errorf(
			"%w: the mark of the last run is %v ahead of the servers' clock: delete %s/%s if that clock was wrong",
			ErrFailed, ahead, j.path, markName)}
	}
	if j.once.Left = j.left(); j.once.Left > 0 {
		j.once.Outcome = OnceNotDue
		return false, nil
	}
	j.once.Left = 0
	return true, nil
}

// left is how long it is until the work is due; not above zero when it is.
func (j *job) left() time.Duration {
	since, wait := j.once.Mark.Began, j.period
	if j.once.Mark.State == MarkFailed {
		since, wait = j.once.Mark.Written, j.retryAfter
	}
	return wait - max(j.began.Sub(since), 0)
}

// now asks the servers for the time, by a write. To write twice does no harm: where nobody knows, it does.
func (j *job) now(ctx context.Context) (time.Time, error) {
	at := j.path + "/" + clockName
	for {
		results, err := j.txn(ctx, Set(at, nil, AnyVersion))
		if errors.Is(err, zkconn.ErrNoNode) {
			results, err = j.txn(ctx, Create(at, nil), Set(at, nil, 0))
		}
		switch {
		case err == nil:
			return results[len(results)-1].Mtime, nil
		case !errors.Is(err, ErrUnknownOutcome):
			return time.Time{}, err
		case !j.lease.Valid():
			return time.Time{}, j.lease.notWritten(j.lease.stale())
		case ctx.Err() != nil:
			return time.Time{}, err
		}
	}
}

// read reads the node of the mark, and makes it where it is not there: what is only set then can be told from what was
// not, by its version, also when the session is gone.
func (j *job) read(ctx context.Context) (data []byte, stat zkconn.Stat, err error) {
	at := j.path + "/" + markName
	for {
		data, stat, err = j.lease.read(ctx, at)
		if !errors.Is(err, zkconn.ErrNoNode) {
			return data, stat, err
		}
		_, err = j.txn(ctx, Create(at, nil))
		if err != nil && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, zkconn.ErrNodeExists) {
			return nil, stat, err
		}
	}
}

// mark writes the mark, for as long as the lease lasts, and ops together with it.
func (j *job) mark(ctx context.Context, state MarkState, ops ...Op) error {
	ctx, done := j.lease.outlast(ctx)
	defer done()
	m, at := newMark(state, j), j.path+"/"+markName
	results, err := j.txn(ctx, append([]Op{Set(at, m.data(), j.version)}, ops...)...)
	if errors.Is(err, zkconn.ErrNoNode) { // deleted meanwhile, unless it is a node of the others
		again, still := j.txn(ctx, append([]Op{Create(at, nil), Set(at, m.data(), 0)}, ops...)...)
		if !errors.Is(still, zkconn.ErrNodeExists) {
			results, err = again, still
		}
		if err == nil {
			results = results[1:]
		}
	}
	if err != nil {
		return err
	}
	m.Written = results[0].Mtime
	j.once.Mark, j.version = m, results[0].Version
	return nil
}

// txn is Lease.Txn with a context of outlast.
func (j *job) txn(ctx context.Context, ops ...Op) ([]OpResult, error) {
	results, err := j.lease.Txn(ctx, ops...)
	if errors.Is(err, errLeaseOver) && !errors.Is(err, ErrUnknownOutcome) {
		err = j.lease.notWritten(j.lease.stale())
	}
	return results, err
}
