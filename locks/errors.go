package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// Errors to test with errors.Is. MayPass is true for those that may pass, as their docs say.
var (
	// ErrClosed: the client or its session is closed. It comes with zkconn.ErrAuthFailed where the
	// servers refused a credential, or a client without one.
	ErrClosed = because(messages.ReasonSessionClosed, actors.ErrSessionClosed)

	// Not acquired.

	// ErrNotAcquired: TryLock found somebody else before us. No node is left. It may pass.
	ErrNotAcquired = because(messages.ReasonNotAcquired, errors.New("turnstile: the lock is not free"))
	// ErrDeadlock: the request was part of a deadlock, and gave up. It may pass.
	ErrDeadlock = mayPass("deadlock", errors.New("turnstile: deadlock"))
	// ErrReentry: a call with the context of a lease of the same lock would wait for itself: see
	// WithReentry.
	ErrReentry = because(messages.ReasonReentry, errors.New("turnstile: the lock is held by its own caller"))
	// ErrUpgrade: a lease for writing was asked for with the context of one for reading.
	ErrUpgrade = because(messages.ReasonUpgrade, errors.New("turnstile: a lease for reading cannot become one for writing"))
	// ErrPermits: more permits are asked for than the semaphore has, WithExactPermits names another
	// number than it has, or the lock path has other data than a number. Error.Permits is the number.
	ErrPermits = because(messages.ReasonPermits, errors.New("turnstile: the semaphore has another number of permits"))
	// ErrSessionFull: the ephemeral nodes of the session, or of a gateway's requester, weigh as
	// much as they may (WithMaxNodeBytes). Nothing was sent. It may pass.
	ErrSessionFull = because(messages.ReasonSessionFull, actors.ErrSessionFull)
	// ErrQueueFull: WithMaxWaiters refuses to wait behind so many contenders. No node was made. It
	// may pass.
	ErrQueueFull = because(messages.ReasonQueueFull, errors.New("turnstile: too many wait for the lock"))
	// ErrQuota: a quota of the lock path does not allow another node (zookeeper.enforceQuota). It
	// may pass.
	ErrQuota = because(messages.ReasonQuota, zkconn.ErrQuota)
	// ErrNoAuth: an ACL does not allow what the lock needs.
	ErrNoAuth = because(messages.ReasonNoAuth, zkconn.ErrNoAuth)
	// ErrLocalSession: the servers keep sessions local, without locks (localSessionsEnabled without
	// localSessionsUpgradingEnabled).
	ErrLocalSession = because(messages.ReasonLocalSession, zkconn.ErrLocalSession)
	// ErrBadAcquire: what is asked for is not well formed, such as an option out of its range.
	// Nothing was sent.
	ErrBadAcquire = because(messages.ReasonBadInput, actors.ErrBadAcquire)
	// ErrBadPath: a lock path is not well formed. Nothing was sent.
	ErrBadPath = mayNotPass("bad_input", zkconn.ErrBadPath)
	// ErrTooLarge: a request would exceed what servers read by default (jute.maxbuffer, 1 MiB),
	// such as a Lease.Txn with much data. Nothing was sent.
	ErrTooLarge = mayNotPass("bad_input", zkconn.ErrTooLarge)
	// ErrNeedsSession: this does not work over a gateway.
	ErrNeedsSession = mayNotPass("bad_input", errors.New("turnstile: this needs a session, and does not work over a gateway"))
	_               = mayNotPass("bad_input", zkconn.ErrBadConfig)

	// Held, and lost or given back.

	// ErrRevoked: somebody asked for the lock and the grace period ran out. It is the cause of the
	// lease's context. It may pass.
	ErrRevoked = mayPass("revoked", errors.New("turnstile: the lock was revoked"))
	// ErrMaxHold: the lock was held for as long as WithMaxHold allows. It is the cause of the
	// lease's context. It may pass.
	ErrMaxHold = mayPass("max_hold", errors.New("turnstile: the hold reached its time limit"))
	// ErrLost: the lock was held and was lost. It is the cause of the lease's context. It may pass,
	// unless it comes with ErrClosed.
	ErrLost = because(messages.ReasonHoldGone, errors.New("turnstile: the lock was lost"))
	// ErrReleased is the cause of the lease's context after Unlock and Release.
	ErrReleased = mayNotPass("released", errors.New("turnstile: the lock was released"))
	// ErrNotHeld: Unlock of a lease that was given back before.
	ErrNotHeld = mayNotPass("not_held", errors.New("turnstile: the lock is not held"))
	// ErrNotWriter: only a lease for writing can be downgraded.
	ErrNotWriter = mayNotPass("bad_input", errors.New("turnstile: not a lease for writing"))
	// ErrUnconfirmed: the lease was over before any server confirmed Unlock. The session goes on
	// trying. It may pass.
	ErrUnconfirmed = mayPass("unconfirmed", errors.New("turnstile: the release is not confirmed by the servers, the session goes on trying"))
	// ErrUnknownOutcome: a transaction may have been carried out, or may yet be: see Lease.Txn. It
	// may pass.
	ErrUnknownOutcome = mayPass("unknown_outcome", zkconn.ErrUnknownOutcome)

	// Questions, jobs, and the client.

	// ErrGone: the contender that was to be broken is gone.
	ErrGone = because(messages.ReasonGone, inspect.ErrGone)
	// ErrNotHolding: nobody holds the lock. It may pass.
	ErrNotHolding = mayPass("not_holding", errors.New("turnstile: nobody holds the lock"))
	// ErrNoLeader: nobody leads. It may pass.
	ErrNoLeader = mayPass("no_leader", errors.New("turnstile: nobody leads"))
	// ErrAgain marks an error of your own as one that may pass: see MayPass.
	//
	//	return fmt.Errorf("%w: %w", locks.ErrAgain, err)
	ErrAgain = mayPass("again", errors.New("turnstile: try again"))
	// ErrNotRun: RunOnceFor did not call the work for its instant, nor, as far as is known, has
	// anybody. Once.Outcome and the text say why.
	ErrNotRun = mayNotPass("not_run", errors.New("turnstile: not run for this instant"))
	// ErrSessionRemains: Close could not tell the servers that the session ends, so it may last
	// until it expires.
	ErrSessionRemains = mayNotPass("session_remains", zkconn.ErrSessionRemains)
	// ErrSessionFileInUse: a living session, of this process or another, uses the file of
	// WithSessionFile.
	ErrSessionFileInUse = mayNotPass("session_file", actors.ErrSessionFileInUse)

	// Errors of other packages, which have no name here.
	_ = []error{
		mayNotPass("session_file", sessionfile.ErrRefused),
		mayNotPass("no_auth", zkconn.ErrAuthFailed),

		// Of the caller's ctx.
		mayPass("timeout", context.DeadlineExceeded),
		mayNotPass("cancelled", context.Canceled),

		// The servers, or gateways, do not carry requests out now.
		mayPass("unreachable", zkconn.ErrUnavailable),
		mayPass("throttled", zkconn.ErrThrottled),
		mayPass("read_only", zkconn.ErrReadOnly),
		mayPass("session_moved", zkconn.ErrSessionMoved),

		// A part of a transaction was refused: the program has to read the nodes.
		mayNotPass("node_deleted", zkconn.ErrGuardGone),
		mayNotPass("bad_version", zkconn.ErrGuardChanged),
		mayNotPass("no_node", zkconn.ErrNoNode),
		mayNotPass("node_exists", zkconn.ErrNodeExists),
		mayNotPass("not_empty", zkconn.ErrNotEmpty),
		mayNotPass("bad_version", zkconn.ErrBadVersion),
		mayNotPass("no_children_for_ephemerals", zkconn.ErrNoChildrenForEphemerals),

		// Of the packages below, which turn them into others first.
		mayNotPass("refused", zkconn.ErrRefused),
		mayNotPass("session_closed", zkconn.ErrClosed),
		mayNotPass("session_expired", zkconn.ErrOtherSession),
		mayNotPass("hung_up", zkconn.ErrHungUp),
		mayNotPass("server_error", zkconn.ErrServerError),
		mayNotPass("no_answer", zkconn.ErrNoAnswer),
		mayNotPass("not_held", actors.ErrNotHolding),
		mayNotPass("permits", queue.ErrNoPermits),
		mayNotPass("zxid_out_of_range", messages.ErrTokenRange),
	}

	// ErrFailed: the lock could not be acquired, or could not be given back; the text says why.
	ErrFailed = mayNotPass("refused", errors.New("turnstile: the lock failed"))
)

// Error is the error of Lock, TryLock and Unlock. It unwraps to one of the errors of this package,
// of packages zkconn (ErrNoAuth) and actors (ErrBadAcquire), or of the ctx.
type Error struct {
	// Op names the operation: "lock", "unlock" or another word.
	Op string
	// Path is the lock path; Node the contender's node, "" when it has or had no node.
	Path, Node string
	// State is the state of the request when it failed.
	State messages.State
	// Behind is the contender that a Lock waited for when it was given up: its node, who it is
	// (Host, PID, Label) and since when, as far as known without a query. It is zero where Lock did
	// not wait, no server answered, or its client knew of no node of its own in the queue.
	//
	// Over a gateway it is zero while the gateway's servers are silent, so it tells a busy lock
	// from servers out of reach. A silent gateway is noticed after three sendings of the waiter, in
	// one and a half session timeouts.
	Behind messages.Contender
	// Reason and Detail say why the request ended. For a call that was given up, Detail says why
	// reachable servers did not carry it out: see messages.Cancelled.
	Reason messages.Reason
	Detail string
	// Permits is the semaphore's number of permits, where Err is ErrPermits; zero where the lock path
	// has none.
	Permits int
	// Err is what this wraps.
	Err error
}

// Error gives one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Path != "" {
		fmt.Fprintf(&b, " %s", zkconn.Shown(e.Path))
	}
	if where := e.where(); len(where) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(where, ", "))
	}
	if e.Reason != messages.ReasonNone {
		b.WriteString(": " + zkconn.Shown(string(e.Reason)))
	}
	if e.Detail != "" {
		b.WriteString(": " + zkconn.Shown(oneLine(e.Detail)))
	}
	if err := oneLine(fmt.Sprint(e.Err)); err != string(e.Reason) { // which has said it
		b.WriteString(": " + err)
	}
	return "turnstile: " + oneLine(b.String())
}

func (e *Error) where() (all []string) {
	if e.Node != "" {
		all = append(all, "node "+zkconn.Shown(e.Node))
	}
	if e.State != messages.StateNone {
		all = append(all, e.State.String())
	}
	c := e.Behind
	if c.Node == "" {
		return all
	}
	all = append(all, "behind "+zkconn.Shown(c.Node))
	if c.Label != "" {
		all = append(all, fmt.Sprintf("%q", c.Label))
	}
	if c.Library == messages.LibraryNone {
		all = append(all, string(c.Library)+" that stands until somebody deletes it")
	}
	if c.Host != "" {
		all = append(all, fmt.Sprintf("process %d on %s", c.PID, zkconn.Shown(c.Host)))
	}
	if !c.Since.IsZero() {
		all = append(all, "since "+c.Since.Format(time.RFC3339))
	}
	return all
}

// oneLine joins the lines of errors.Join, and drops their "turnstile: ".
func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "; "), "turnstile: ", "")
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// DeadlockError is the ErrDeadlock that says who waited for whom; use errors.As.
type DeadlockError struct {
	Deadlock messages.Deadlock
}

// Error tells the whole circle, with the labels of those who wait.
func (e *DeadlockError) Error() string { return ErrDeadlock.Error() + ": " + e.Deadlock.String() }

// Unwrap gives ErrDeadlock.
func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// context.Canceled and context.DeadlineExceeded mean that the caller has gone or waited long
// enough. Functions in the context of a lease return them when the lease ends. Those must not reach
// the caller: a server that takes them for its client's hang-up answers 200 for a payment that was
// not made.

// ended gives the error of a ctx that is done, with its cause where that says more. The end of a
// lease is the error itself.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) || endOfLease(cause) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func endOfLease(cause error) bool {
	return errors.Is(cause, ErrLost) || errors.Is(cause, ErrRevoked) || errors.Is(cause, ErrMaxHold)
}

// notCallers hides context errors of work whose lease has ended, while the caller's ctx has not.
func notCallers(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return withoutContext{err}
	}
	return err
}

// withoutContext matches what its error matches, except context.Canceled and
// context.DeadlineExceeded. It has no Unwrap, which would let errors.Is reach them.
type withoutContext struct{ err error }

func (w withoutContext) Error() string { return w.err.Error() }

func (w withoutContext) Is(target error) bool {
	return target != context.Canceled && target != context.DeadlineExceeded && errors.Is(w.err, target)
}

func (w withoutContext) As(target any) bool { return errors.As(w.err, target) }
