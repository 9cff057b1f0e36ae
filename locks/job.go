package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Once is the result of a RunOnce or a RunOnceFor.
type Once struct {
	// Outcome says whether the work was called, and if not, why.
	Outcome OnceOutcome
	// Mark tells of the newest known run: this one if its mark is written, otherwise the one
	// before. Its State is MarkNone where there was none, and "" where it was not read.
	Mark Mark
	// Left is the time until the work is due, by the servers' clock; zero unless OnceNotDue.
	Left time.Duration
	// Holder is the contender that has the lock (OnceBusy); zero where unknown, or where it has given
	// it back.
	Holder messages.Contender
	// Missed counts the instants since the last run that were left out: see WithCatchUp.
	Missed int
}

// OnceOutcome is the outcome of a RunOnce or RunOnceFor: "" where an error came before the work.
type OnceOutcome string

const (
	// OnceRan: the work was called, by RunOnceFor for the instant that was asked for, and has
	// returned.
	OnceRan OnceOutcome = "ran"
	// OnceNotDue: somebody ran within the period, or failed within that of WithRetryAfter
	// (Once.Mark), or the instant is to come.
	OnceNotDue OnceOutcome = "not due"
	// OnceBusy: somebody is at it now, or has the lock (ErrNotRun).
	OnceBusy OnceOutcome = "busy"
	// OnceAlreadyRan: somebody has run it for this instant.
	OnceAlreadyRan OnceOutcome = "already ran"
	// OnceSuperseded: it was run, or begun, for a newer instant.
	OnceSuperseded OnceOutcome = "superseded"
	// OnceTooLate: the instant is too long ago (WithStartDeadline).
	OnceTooLate OnceOutcome = "too late"
)

// job is one RunOnce or RunOnceFor. Its work, for package term, is all that is done under the lock:
// the marks, and a call of the user's function for each instant.
type job struct {
	jobOptions
	tenure
	from    *lock
	do      func(ctx context.Context, token Token) error
	run     func(ctx context.Context) error // runPeriod or runInstants
	path    string
	period  time.Duration
	instant time.Time
	isDue   func() (due bool, err error) // by once.Mark and began

	once    Once
	began   time.Time // by the servers' clock
	at      time.Time // the instant at hand, which may be one that is caught up; zero for RunOnce
	version int32     // of the mark's node
}

// serveOnce gives OnceBusy with ErrNotAcquired where somebody else has the lock, or waits for it.
func (j *job) serveOnce(ctx context.Context, wrong error) (Once, error) {
	l := j.from
	j.path, j.jobOptions = l.want.Path, *l.job
	l.want.Try = !l.job.mayWait
	l.prepare()
	if l.client.Session() == nil {
		wrong = ErrNeedsSession
	}
	if err := cmp.Or(wrong, l.wrong); err != nil {
		return Once{}, &Error{Op: "run", Path: j.path, Err: err}
	}
	j.serve(ctx, term.Once, l.acquire, j.run)
	if j.lease == nil && errors.Is(j.err, ErrNotAcquired) {
		j.once.Outcome = OnceBusy
	}
	return j.once, j.err
}

// runMarked calls the user's function, and marks before it, and after nil or an error, as wanted.
func (j *job) runMarked(ctx context.Context, begun, done, failed bool) error {
	if begun {
		if err := j.mark(ctx, MarkBegun); err != nil {
			return err
		}
	}
	acks := &acks{over: !done}
	err := j.call(context.WithValue(ctx, jobKey{}, acks), func(ctx context.Context, token Token) error {
		if j.at.Equal(j.instant) { // not one that is caught up
			j.once.Outcome = OnceRan
		}
		return j.do(ctx, token)
	})
	told := ctx.Err() != nil // to end, as by SIGTERM: another may run at once, if at all
	ops := acks.close()
	switch ctx = context.WithoutCancel(ctx); {
	case !done || err != nil && (!failed || told || !j.lease.Valid()):
		return err
	case err == nil:
		return j.mark(ctx, MarkDone, ops...)
	}
	if unmarked := j.mark(ctx, MarkFailed); unmarked != nil {
		return fmt.Errorf("%w; and that it failed is not marked: %w", err, unmarked)
	}
	return err
}

type acks struct {
	mu   sync.Mutex
	ops  []Op
	over bool // none is taken any more
}

func (a *acks) close() []Op {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	return a.ops
}

type jobKey struct{}

// AckWith adds ops to the transaction in which RunOnce or RunOnceFor writes its mark when the work
// has returned nil: all or nothing. ctx is that of the work. It returns ErrBadAcquire for another
// ctx, for that of a RunOnce that marks first, and after the work has returned. RunOnce returns the
// servers' refusal.
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

func (j *job) readMark(ctx context.Context) (due bool, err error) {
	ctx, done := j.lease.outlast(ctx)
	defer done()
	if j.began, err = j.now(ctx); err != nil {
		return false, err
	}
	for {
		// After that write: the server that has answered it shows all writes of the holders before.
		data, stat, err := j.read(ctx)
		if err != nil {
			return false, err
		}
		j.version = stat.Version
		due, wrong := j.judge(data, stat.Mtime)
		if wrong == nil {
			return due, nil
		}
		// After an operator's Break the next holder may have written that. So people are told to
		// delete marks only while the lock is held: otherwise the job would run twice.
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

func (j *job) judge(data []byte, written time.Time) (due bool, err error) {
	j.once = Once{}
	if j.once.Mark, err = readMark(data, written); err != nil {
		return false, &Error{Op: "run", Path: j.path, Err: err}
	}
	return j.isDue()
}

// isEarly reports whether the period, or that of WithRetryAfter, is not over, and says so in once.
func (j *job) isEarly() bool {
	since, wait := j.once.Mark.Began, j.period
	if j.once.Mark.State == MarkFailed {
		since, wait = j.once.Mark.Written, j.retryAfter
	}
	left := wait - max(j.began.Sub(since), 0)
	if left > 0 {
		j.once.Outcome, j.once.Left = OnceNotDue, left
	}
	return left > 0
}

// now asks the servers for the time, by a write. On an unknown outcome it writes again.
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

// read reads the mark's node, or makes it: a mark is always written by a Set, and the node's
// version shows whether that was carried out, even after the session.
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

func (j *job) newMark(state MarkState) Mark {
	host, _ := os.Hostname() // for people
	m := Mark{State: state, Host: host, PID: os.Getpid(), Label: j.lease.from.want.Label, Token: j.lease.Token(),
		Began: j.began}
	if !j.at.IsZero() {
		m.For, m.until = j.at.Round(0).UTC(), j.instant.Round(0).UTC() // without the monotonic clock
	}
	return m
}

func (j *job) mark(ctx context.Context, state MarkState, ops ...Op) error {
	ctx, done := j.lease.outlast(ctx)
	defer done()
	m, at := j.newMark(state), j.path+"/"+markName
	results, err := j.txn(ctx, append([]Op{Set(at, m.data(), j.version)}, ops...)...)
	if errors.Is(err, zkconn.ErrNoNode) { // deleted meanwhile, unless the node is one of the ops'
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

func (j *job) txn(ctx context.Context, ops ...Op) ([]OpResult, error) {
	results, err := j.lease.Txn(ctx, ops...)
	if errors.Is(err, errLeaseOver) && !errors.Is(err, ErrUnknownOutcome) {
		err = j.lease.notWritten(j.lease.stale())
	}
	return results, err
}

func (c *Client) holderOf(ctx context.Context, path string) messages.Contender {
	queue, _ := c.Queue(ctx, path)
	if at := slices.IndexFunc(queue, func(c messages.Contender) bool { return c.Holds }); at >= 0 {
		return queue[at]
	}
	return messages.Contender{}
}
