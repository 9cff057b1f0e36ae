package locks

import (
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// LockOption changes how a lock is acquired, also by elections, RunOnce and RunOnceFor. One without
// effect on its kind of lock is refused with ErrBadAcquire: see actors.CheckAcquire, and for
// elections and RunOnce the table here.
//
//   - For people: [WithLabel]. To bound a hold: [WithMaxHold], [WithGrace]. To be told:
//     [WithOnChange], [WithOnLost], [WithObserver].
//   - For speed: [WithSticky], [WithCohort]. Against deadlocks: [WithReentry],
//     [WithDeadlockDetection]. Against long queues: [WithMaxWaiters]. Of semaphores:
//     [WithExactPermits].
//   - For restarts: [WithReclaim]. For queues of others: [WithName], [WithNaming], [WithWatchAll].
type LockOption interface {
	ElectionOption
	OnceOption
	forLock()
}

// ElectionOption changes how a candidate campaigns: [WithPriority], and every LockOption but
// WithLabel and WithSticky.
type ElectionOption interface {
	apply(*lockSettings)
	forElection()
}

// OnceOption changes how RunOnce works: WithMarkFirst, WithRetryAfter, WithWaiting, and every
// LockOption.
type OnceOption interface {
	InstantOption
	forOnce()
}

// InstantOption changes how RunOnceFor works: WithStartDeadline, WithCatchUp, and every OnceOption
// but WithMarkFirst.
type InstantOption interface {
	apply(*lockSettings)
	forInstant()
}

type (
	lockOption     func(*lockSettings)
	electionOption func(*lockSettings)
	onceOption     func(*lockSettings)
	instantOption  func(*lockSettings)
)

func (o lockOption) apply(s *lockSettings)     { o(s) }
func (o electionOption) apply(s *lockSettings) { o(s) }
func (o onceOption) apply(s *lockSettings)     { o(s) }
func (o instantOption) apply(s *lockSettings)  { o(s) }

func (lockOption) forLock()         {}
func (lockOption) forElection()     {}
func (lockOption) forOnce()         {}
func (lockOption) forInstant()      {}
func (electionOption) forElection() {}
func (onceOption) forOnce()         {}
func (onceOption) forInstant()      {}
func (instantOption) forInstant()   {}

type lockSettings struct {
	use       use
	want      turns.Want
	observers []*actor.PID
	maxHold   time.Duration
	onChange  func(Change)
	onLost    func(key string, err error)

	detects    bool
	ranked     bool
	pressAfter time.Duration

	job *jobOptions // nil where use is none of jobs
}

type jobOptions struct {
	markFirst, mayWait bool
	retryAfter         time.Duration
	retries            bool // WithRetryAfter was given, even if zero

	startDeadline time.Duration
	catchesUp     bool
	next          func(time.Time) time.Time
	most          int
}

type use string

const (
	forLocking  use = "a lock"
	forElection use = "an election"
	forRunOnce  use = "RunOnce"
	forInstant  use = "RunOnceFor"
)

// The uses for which an option may be refused; nil stands for all.
var (
	elections = []use{forElection}
	runOnce   = []use{forRunOnce}
	instants  = []use{forInstant}
	jobs      = []use{forRunOnce, forInstant}
)

// refusals are the options that are refused, by the lock's use, before anything is sent. Rules for
// a mode are in the table of actors.CheckAcquire, which sees messages.Acquire only. Those of what
// calls share, and of what does not go together with it, are in checkRequest.
//
// The first two rows are for every use: WithMaxHold is no field of messages.Acquire, and
// CheckAcquire takes the root "" with the period zero for a request without detection.
var refusals = []struct {
	of     []use
	option string
	given  func(*lockSettings) bool
	why    string
}{
	{nil, "WithMaxHold", func(s *lockSettings) bool { return s.maxHold < 0 }, "the time must not be negative"},
	{nil, "WithDeadlockDetection", func(s *lockSettings) bool { return s.detects && s.want.Deadlocks.Every <= 0 },
		"the period must be above zero"},
	{elections, "WithLabel", func(s *lockSettings) bool { return s.want.Label != "" },
		"the value of the campaign takes its place"},
	{elections, "WithSticky", func(s *lockSettings) bool { return s.want.Sticky != 0 },
		"the retained node would go on naming a leader that has resigned"},
	{jobs, "WithRetryAfter", func(s *lockSettings) bool { return s.job.retryAfter < 0 },
		"the time must not be negative"},
	{jobs, "WithDeadlockDetection", func(s *lockSettings) bool { return s.detects && !s.job.mayWait },
		"without WithWaiting it waits for nobody"},
	{jobs, "WithMaxWaiters", func(s *lockSettings) bool { return s.want.MaxWaiters > 0 && !s.job.mayWait },
		"without WithWaiting it waits for nobody"},
	{jobs, "WithWatchAll", func(s *lockSettings) bool { return s.want.WatchAll && !s.job.mayWait },
		"without WithWaiting it waits for nobody"},
	{runOnce, "WithMarkFirst", func(s *lockSettings) bool { return s.job.markFirst && s.job.retryAfter > 0 },
		"what is marked first is not tried again, so not with WithRetryAfter"},
	{instants, "WithMarkFirst", func(s *lockSettings) bool { return s.job.markFirst }, "the mark always comes first"},
	{instants, "WithStartDeadline", func(s *lockSettings) bool { return s.job.startDeadline < 0 },
		"the time must not be negative"},
	{instants, "WithCatchUp", func(s *lockSettings) bool {
		return s.job.catchesUp && (s.job.next == nil || s.job.most < 0)
	}, "it needs a schedule, and a number that is not negative"},
}

func (s *lockSettings) check() error {
	for _, r := range refusals {
		if (r.of == nil || slices.Contains(r.of, s.use)) && r.given(s) {
			return fmt.Errorf("%w: %s of %s: %s", ErrBadAcquire, r.option, s.use, r.why)
		}
	}
	return nil
}

func (s *lockSettings) checkRequest() error {
	if err := actors.CheckAcquire(s.want.Acquire); err != nil {
		return err
	}
	wrong, mode := "", s.want.Mode
	switch {
	case s.want.Sticky != 0 && mode != messages.Exclusive:
		wrong = fmt.Sprintf("sticky for %v has no effect in mode %v: only an exclusive lock is kept", s.want.Sticky, mode)
	case s.want.Sticky < 0:
		wrong = fmt.Sprintf("sticky for %v: it is negative", s.want.Sticky)
	case s.want.Cohort != 0 && mode != messages.Exclusive && mode != messages.Read:
		wrong = fmt.Sprintf("a cohort of %d has no effect in mode %v: only exclusive locks and readers share holds", s.want.Cohort, mode)
	case s.want.Cohort < 0 || s.want.Cohort > messages.MaxPlace:
		wrong = fmt.Sprintf("a cohort of %d: it must be between 0 and %d", s.want.Cohort, messages.MaxPlace)
	case s.want.Cohort > 1 && s.want.WatchAll:
		wrong = fmt.Sprintf("a cohort of %d: its waiters watch one node, so not with WatchAll", s.want.Cohort)
	case s.want.Reentry && mode == messages.Semaphore:
		wrong = fmt.Sprintf("reentry has no effect in mode %v: a holder of permits may take more of them in any case", mode)
	case s.want.MaxWaiters != 0 && mode == messages.Contest:
		wrong = fmt.Sprintf("a bound of %d on waiters has no effect in mode %v: a contest has one node and no queue", s.want.MaxWaiters, mode)
	case s.want.MaxWaiters < 0:
		wrong = fmt.Sprintf("a bound of %d on waiters: it is negative", s.want.MaxWaiters)
	case s.want.Reclaim != "" && s.want.MaxWaiters > 0:
		wrong = fmt.Sprintf("to wait behind fewer than %d: not with Reclaim, which comes before all who wait", s.want.MaxWaiters)
	case s.want.Reclaim != "" && (s.want.Sticky > 0 || s.want.Cohort > 1):
		wrong = fmt.Sprintf("to reclaim %q: not with Sticky or Cohort, whose nodes do not tell the token", s.want.Reclaim)
	}
	if wrong != "" {
		return fmt.Errorf("%w: %s", ErrBadAcquire, wrong)
	}
	return nil
}

// WithLabel writes a text, at most 1024 bytes, into the contender's node. Use it always: it says
// who holds when a lock is stuck.
func WithLabel(label string) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Label = label })
}

// WithGrace gives the lock back by force this long after somebody asked for it. Without it only
// Lease.Revoked tells. Use it where operators, or more urgent work, must get the lock within a
// bounded time.
func WithGrace(d time.Duration) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Grace = d })
}

// WithSticky keeps an exclusive lock for d after Unlock, while nobody else queues for it. Use it
// where one client locks a path again and again, and others seldom do. Locking it again takes a
// microsecond, and asks no server: the client watches its node, and the queue behind it. After a
// rest of a sixth of the session timeout it is first checked by one round trip, so an operator's
// delete of the node is noticed within that time.
//
// Unlock returns before the node is gone. As soon as anybody else queues, the node goes; that
// waiter waits a listing and a delete longer. Until then TryLock elsewhere finds the lock taken,
// and people see a holder. Only calls with the same options share the kept hold.
func WithSticky(d time.Duration) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Sticky = d })
}

// WithCohort lets up to n grants in a row of an exclusive lock, at most 1023, pass inside this
// client before other clients have their turn (lock cohorting: Dice, Marathe, Shavit, PPoPP 2012).
// The client's calls share one node, in turn: a hand-off takes a few microseconds, and waiting
// costs the servers nothing. Each grant has its own, greater token. Use it for hot locks of
// processes with many workers; of an RWMutex, for its readers.
//
// The node goes after n grants, after a twentieth of the session timeout, when somebody asks for
// the lock, or when nobody waits here; grants and time count only while others queue. By then calls
// that still wait have nodes behind the other clients, one for each n calls. So another client
// waits for one hold and n grants of this one at most, and no longer than for two holds and that
// time. The order of the calls outlives a lost connection or session.
//
// Readers that share a node hold together, with one token: up to n in all, within that time.
// Readers that come after a writer of any client come behind it. A writer has its own node.
//
// While the connection is down, or an answer is outstanding, nobody is let in. Only calls with the
// same options share a node. The queue shows one contender, without an owner; only the client can
// tell who has it and who waits behind it (messages.ReadInside). So deadlock detection misses a
// circle through a node that another client shares. Readers that hold together count as one. When
// an operator deletes the node, all calls that have it lose the lock.
func WithCohort(n int) LockOption { return lockOption(func(s *lockSettings) { s.want.Cohort = n }) }

// WithReclaim lets a process that restarts after a crash take its lock back, with a client of the
// same WithSessionFile: the first to ask for the lock with the same key holds at once, even if
// others wait, with a greater token, and nobody has held in between. Use it where a restart takes
// less than a session timeout, and moving the work costs more than waiting. A holder that keeps
// crashing is first each time.
//
// The earlier process must be dead, which the file's lock proves, and its session alive: less than
// a session timeout passes between the crash and Open, and between Open and Lock. That session, and
// all that it held, is kept for a session timeout after Open, which further restarts do not
// prolong: others wait too. Otherwise, and where somebody has asked for the lock, or the file is
// damaged or another host's, the request queues like any other.
//
// It is for exclusive locks, with a key of at most 1024 bytes, and excludes WithSticky and
// WithCohort (ErrBadAcquire). Within the client the lock is handed on only when the holder's node
// is gone, a round trip later than usual. Without a session file it has no effect; over a gateway
// it is refused.
func WithReclaim(key string) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Reclaim = key })
}

// WithObserver names actors that get the notices and transitions of every request: see
// actors.WithObserver. Such a request shares no hold, except that of a lease that it is made
// within. Use it in actor programs and in tests, as with actorstest.Recorder.
func WithObserver(pids ...*actor.PID) LockOption {
	return lockOption(func(s *lockSettings) { s.observers = append(s.observers, pids...) })
}

// WithReentry makes the lock reentrant: Lock(lease.Context()) gives a further lease of the same
// hold, with the same token. The lock goes back with the last lease. Without it such a call returns
// ErrReentry. Use it where functions that lock call each other.
func WithReentry() LockOption { return lockOption(func(s *lockSettings) { s.want.Reentry = true }) }

// WithName names the queue: several can share one lock path. Nodes are called name_lock_sequence,
// as in recipes, with a GUID before the name. A name has at most 255 bytes, no slash and no NUL,
// and does not begin with _c_. Use it where another program's recipe has such names.
func WithName(name string) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Name = name })
}

// WithNaming names the nodes as another library, such as kazoo, or ZooKeeper's recipes do: see
// messages.Naming. The default is Curator's and go-zookeeper's. All known namings are respected
// here; tests/interop/README.md, "Sharing queues with other clients", says who respects ours. Use
// it to share locks with such programs.
func WithNaming(naming messages.Naming) LockOption {
	return lockOption(func(s *lockSettings) { s.want.Naming = naming })
}

// WithWatchAll watches the whole lock path while waiting, instead of the predecessor. Every change
// then has every such waiter read the whole queue (thundering herd): the load grows with the square
// of the queue's length. Use it for comparison, and with ten clients or fewer.
func WithWatchAll() LockOption { return lockOption(func(s *lockSettings) { s.want.WatchAll = true }) }

// WithExactPermits has Semaphore.Acquire return ErrPermits where the semaphore has another number of
// permits than Client.Semaphore names. A number that changes later is taken. Use it where all
// programs are to agree, and nobody sets the number.
func WithExactPermits() LockOption {
	return lockOption(func(s *lockSettings) { s.want.ExactPermits = true })
}

// WithMaxWaiters refuses a Lock that would have to wait where n or more contenders of the queue are
// before it: Lock returns ErrQueueFull, and leaves no node (load shedding, back-pressure). With n
// of 1 it waits behind nobody; with 2 one waits behind a holder. Zero, the default, is no bound; a
// negative n is refused with ErrBadAcquire. Use it where late work is worth nothing.
//
// All holders and waiters count, those that hold with one node once. Of calls without a node
// (WithCohort, WithMaxWaiting) only this client's count. A Lock that need not wait is never
// refused: a reader beside readers, a call for which there are permits, another lease of the same
// hold (WithReentry), a TryLock.
//
// Where too many calls of this client are before it, Lock refuses at once. Otherwise its node is
// made, and a listing says how many stand before it: of clients that ask at the same moment, the
// first are let in. A node counts until it is gone, also that of a refused call, or one that is
// kept after Unlock (WithSticky). A call that shares a node is judged by that node's first listing.
// A call that was let in is never refused, even when its session is lost. Over gateways, a call
// whose gateway fell silent tries at the next for two session timeouts, until a node that it may
// have left is gone, before it hears ErrQueueFull.
//
// ErrPermits comes before ErrQueueFull. The option is
// for locks with a queue, and excludes WithReclaim. In an election it refuses further candidates;
// Election.Run tries again after pauses of up to a session timeout.
func WithMaxWaiters(n int) LockOption {
	return lockOption(func(s *lockSettings) { s.want.MaxWaiters = n })
}

// WithMaxHold ends a hold d after its grant: the lease's context ends with ErrMaxHold, then the
// lock is given back. Work that ignores its context goes on without the lock, so choose a d that
// ordinary work never reaches, and let the resource check tokens. Zero, the default, is no bound; a
// negative d is refused with ErrBadAcquire. Use it where work may hang.
func WithMaxHold(d time.Duration) LockOption {
	return lockOption(func(s *lockSettings) { s.maxHold = d })
}

// WithDeadlockDetection looks for deadlocks while Lock waits, once in every period, below the root,
// which must contain the lock path. Of the members of a deadlock that look, the youngest gives up:
// its node is deleted, and Lock returns an error in which errors.As finds a *DeadlockError. Use it
// where programs hold several locks that they cannot take by All. It is not for contests.
//
// The youngest is the one whose node was made last; calls without a node are younger, by the time
// of the call. So of two that wait for each other exactly one gives up, and the other gets on when
// the first caller gives back its locks.
//
// See Deadlocks for what can be found, by two looks 250 ms apart. Each lists all that is below the
// root, and reads the queues with waiters.
func WithDeadlockDetection(root string, every time.Duration) LockOption {
	return lockOption(func(s *lockSettings) {
		s.want.Deadlocks, s.detects = messages.Detection{Root: root, Every: every}, true
	})
}

// WithOnChange calls a function while a Lock waits, with the contender that it waits for, and when its
// lease is in doubt, goes on, is asked for, or is lost. Use it to log, to slow down, or to prepare for
// the end; the lease's context ends work.
//
// Calls come in order, one at a time for all locks of a client: see "What callbacks may do" in the
// package doc.
func WithOnChange(tell func(Change)) LockOption {
	return lockOption(func(s *lockSettings) { s.onChange = tell })
}

// WithOnLost calls a function when the lock is lost, revoked, or held for too long (WithMaxHold)
// before its owner gives it back, which may come to light only then. key is that of a Keyed, or
// else the lock path; err is as Change.Err. Calls come as for WithOnChange. Use it where nobody
// keeps the lease, as with Named: to end the process, to cancel the work, or to count.
func WithOnLost(tell func(key string, err error)) LockOption {
	return lockOption(func(s *lockSettings) { s.onLost = tell })
}

// WithPriority gives a candidate a priority, 0 by default. When it has campaigned for the time
// after, it asks a leader of lower priority to resign. One elected while a higher priority waits
// resigns before it begins. It is for Election.Run; a leader by Campaign is asked by Lease.Revoked.
// A priority below zero is refused with ErrBadAcquire. Use it where some places are better to lead
// from.
func WithPriority(priority int, after time.Duration) ElectionOption {
	return electionOption(func(s *lockSettings) { s.want.Priority, s.pressAfter, s.ranked = priority, after, true })
}

// WithMarkFirst has RunOnce write the mark before the work, not after: it is done at most once in a
// period, and not at all when the process dies or loses the lock in between. It excludes
// WithRetryAfter and AckWith. RunOnceFor refuses it: it marks before and after. Use it where a
// second time does more harm than none.
func WithMarkFirst() OnceOption { return onceOption(func(s *lockSettings) { s.job.markFirst = true }) }

// WithRetryAfter has RunOnce mark failed work, too, so that nobody tries again for the caller's own
// d, counted from its end. A loss of the lock, and work whose caller's ctx has ended, leave no
// mark. Zero, the default, lets the next one run at once. Use it where work would fail again at
// once.
//
// RunOnceFor does not run failed work again for the same instant. With this option the next to ask
// does, when d, which may be zero, has passed since the failure; and at once where the process that
// ran it died, lost the lock, or was told to end. A run that dies after others were told OnceBusy
// waits for the next to ask; WithWaiting stays behind it.
func WithRetryAfter(d time.Duration) OnceOption {
	return onceOption(func(s *lockSettings) { s.job.retryAfter, s.job.retries = d, true })
}

// WithWaiting has RunOnce wait for a run elsewhere, and then look whether there is still something
// to do. Use it where work that fails elsewhere is to be taken on at once.
func WithWaiting() OnceOption { return onceOption(func(s *lockSettings) { s.job.mayWait = true }) }

// WithStartDeadline has RunOnceFor not call the work once d has passed since the instant, by the
// servers' clock, as Kubernetes' startingDeadlineSeconds. Zero, the default, is no bound. Use it
// where late work does harm, or is not worth doing.
func WithStartDeadline(d time.Duration) InstantOption {
	return instantOption(func(s *lockSettings) { s.job.startDeadline = d })
}

// WithCatchUp has RunOnceFor first call the work for the instants that were missed since the last
// run, oldest first: for the newest most of them that are not too late by WithStartDeadline.
// Once.Missed counts the others; with most 0 that is all. next gives the schedule's first instant
// after a time, as robfig/cron's Schedule.Next. InstantOf says which instant a call is for. Use it
// where each run does a part of the work, such as a day of a report.
//
// A failed call is followed by the next; with WithRetryAfter it ends the run. Where a run ends before
// its own instant, Once.Outcome is "", and the error wraps ErrNotRun.
func WithCatchUp(next func(time.Time) time.Time, most int) InstantOption {
	return instantOption(func(s *lockSettings) { s.job.next, s.job.most, s.job.catchesUp = next, most, true })
}
