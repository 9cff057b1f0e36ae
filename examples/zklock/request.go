package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// runArgs has the arguments and flags of run.
type runArgs struct {
	conn    *connection
	shared  bool
	permits int
	wait    time.Duration // negative: for ever
	flock   flockWaits    // other ways to say wait
	most    int           // do not wait behind so many; zero: behind any number
	label   string
	grace   time.Duration
	maxHold time.Duration // zero: for as long as the command runs
	early   bool
	keep    bool
	noCreds bool          // in the environment of the command
	every   time.Duration // zero: whenever it is run
	job     instantArgs   // of a run for an instant
	silent  bool          // the servers were found not to answer
	path    string
	command []string
}

// addTo registers the flags that run and hold have alike.
func (r *runArgs) addTo(f *pflag.FlagSet) {
	f.BoolVar(&r.shared, "shared", false, "hold it together with others that say --shared")
	f.IntVar(&r.permits, "permits", 0, "let `N` hold it together; where PATH has a number\nof permits, that one counts")
	f.DurationVar(&r.wait, "wait", -1, "give up after this time, connecting included\n(1s at least); 0: where it is not free\n(default: wait for ever)")
	f.Lookup("wait").DefValue = "0s" // so that help shows none
	r.flock.addTo(f)
	f.StringVar(&r.label, "label", "", "a `text` for people who look at the queue")
	f.BoolVar(&r.keep, "keep", false, "go on when somebody asks for the lock")
}

// addRunTo registers those of run alone.
func (r *runArgs) addRunTo(f *pflag.FlagSet) {
	f.IntVar(&r.most, mostFlag, 0, "do not run it where it would have to wait, and\n`N` or more hold the lock or wait for it")
	f.DurationVar(&r.grace, "grace", 5*time.Second, "the time from SIGTERM to SIGKILL")
	f.DurationVar(&r.maxHold, maxHoldFlag, 0, "end the command when it has had the lock for so\nlong")
	f.Lookup(maxHoldFlag).DefValue = "0s"
	f.BoolVar(&r.early, "early", false, "end the command a grace period before the lease\nis over, not after it")
	f.BoolVar(&r.noCreds, "no-credentials", false, "take $"+authVariable+" and $"+saslVariable+"… out of the\ncommand's environment")
	f.DurationVar(&r.every, everyFlag, 0, "run it only where nobody has for this time, by\nthe servers' clock")
	f.Lookup(everyFlag).DefValue = "0s"
	r.job.addTo(f)
}

func (r *runArgs) checkFlags(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := r.readWaits(cmd); err != nil {
		return err
	}
	switch {
	case r.shared && given("permits"):
		return badUse(withFlag(cmd, "--shared")+", or: "+withFlag(cmd, "--permits N"),
			"%s: --shared and --permits are different kinds of locks", cmd.Name())
	case given("permits") && queue.CheckPermits(r.permits) != "":
		return badUse(withFlag(cmd, "--permits 4"), "%s: --permits %d is not between 1 and %d", cmd.Name(), r.permits,
			queue.MaxPermits)
	case given("wait") && r.wait < 0:
		return badUse(withFlag(cmd, "--wait 30s"),
			"%s: --wait %v is less than nothing (leave it out to wait for ever)", cmd.Name(), r.wait)
	case given(mostFlag) && r.most < 1:
		return badUse(withFlag(cmd, "--"+mostFlag+" 2"), "run: --%s %d is less than one", mostFlag, r.most)
	case given(mostFlag) && (r.wait == 0 || r.wait < 0 && (given(everyFlag) || given(forFlag))):
		return badUse(withFlag(cmd, "--wait 30s --"+mostFlag+" 2"),
			"run: --%s is for a run that waits, and this one does not", mostFlag)
	case r.grace < 0:
		return badUse(withFlag(cmd, "--grace 5s"), "run: --grace %v is less than nothing", r.grace)
	case given(maxHoldFlag) && r.maxHold <= 0:
		return badUse(withFlag(cmd, "--"+maxHoldFlag+" 1h"), "run: --%s %v is not above nothing", maxHoldFlag, r.maxHold)
	case r.early && r.grace > r.conn.sessionTimeout/10:
		return badUse(withFlag(cmd, fmt.Sprintf("--early --grace %v", r.conn.sessionTimeout/10)),
			"run: with --early, --grace %v is more than a tenth of the session timeout (%v)", r.grace,
			r.conn.sessionTimeout)
	}
	if err := actors.CheckAcquire(messages.Acquire{Path: r.path, Label: r.label}); err != nil {
		return badUse(withFlag(cmd, "--label TEXT"), "%s: %v", cmd.Name(), err)
	}
	if err := r.job.read(cmd); err != nil {
		return err
	}
	return r.checkJob(cmd)
}

// acquire waits for the lock. Without --shared it is a Mutex, whose nodes other libraries' locks read as their own;
// readers wait for it as for a writer.
func (r *runArgs) acquire(ctx context.Context, client *locks.Client) (*locks.Lease, error) {
	try, opts := r.wait == 0, r.options()
	stop := showProgress(ctx, client, r.path)
	defer stop()
	switch {
	case r.permits > 0 && try:
		return client.Semaphore(r.path, r.permits, opts...).TryAcquire(ctx, 1)
	case r.permits > 0:
		return client.Semaphore(r.path, r.permits, opts...).Acquire(ctx, 1)
	case r.shared && try:
		return client.RWMutex(r.path, opts...).TryRLock(ctx)
	case r.shared:
		return client.RWMutex(r.path, opts...).RLock(ctx)
	case try:
		return client.Mutex(r.path, opts...).TryLock(ctx)
	}
	return client.Mutex(r.path, opts...).Lock(ctx)
}

// options gives the options of the lock.
func (r *runArgs) options() (opts []locks.LockOption) {
	if r.label != "" {
		opts = append(opts, locks.WithLabel(r.label))
	}
	if r.most > 0 {
		opts = append(opts, locks.WithMaxWaiters(r.most))
	}
	return opts
}

// unrun says what follows from a lock that was not acquired.
func (r *runArgs) unrun() string {
	if r.command == nil {
		return ""
	}
	return "; the command was not run"
}

// notHeld is the error of a lock that was not acquired.
func (r *runArgs) notHeld(ctx context.Context, err error) error {
	over, isOver := overIn(ctx, err)
	switch {
	case isOver && r.wait > 0 && sawAnother(err):
		return exitWith(statusNotAcquired,
			"%s was not free within %v%s (%s shows who holds it)", r.path, over.after, r.unrun(), typed("queue", r.path))
	case isOver:
		r.silent = true
		return exitWith(statusUnreachable, "%s: the servers did not answer within %v%s; zklock doctor tells more", r.path,
			over.after, r.unrun())
	case ctx.Err() != nil: // a signal
		return context.Cause(ctx)
	case errors.Is(err, locks.ErrNotAcquired):
		return exitWith(statusNotAcquired,
			"%s is not free%s (%s shows who holds it)", r.path, r.unrun(), typed("queue", r.path))
	case errors.Is(err, locks.ErrQueueFull):
		return exitWith(statusNotAcquired,
			"%s: %d or more are before it in the queue%s (%s shows them)", r.path, r.most, r.unrun(), typed("queue", r.path))
	case errors.Is(err, locks.ErrLost):
		return exitWith(statusLost, "%s: the lock was lost%s: %s", r.path, r.unrun(), short(err))
	case errors.Is(err, locks.ErrPermits):
		return exitWith(statusRefused, "%s is no semaphore: %s", r.path, short(err))
	case errors.Is(err, zkconn.ErrNoAuth):
		return exitWith(statusRefused,
			"%s: the ACL of a node does not allow to lock there (--auth gives a credential): %s", r.path, short(err))
	}
	return exitWith(statusRefused, "%s: %s", r.path, short(err))
}

// giveBack deletes the contender's node. It is waited for until the lease would have ended: by then the servers are
// not there, and closing the session, or its timeout, does it.
func giveBack(lease *locks.Lease) {
	ctx, cancel := context.WithDeadline(context.Background(), lease.Deadline())
	defer cancel()
	_ = lease.Unlock(ctx)
}

// leastBound is the least time that the servers have to answer, however short --wait is.
const leastBound = time.Second

// bound bounds the time until the lock is held, connecting included; zero for no bound. Where
// nobody is waited for, the servers have the time that connecting has: commands that a crontab
// starts over and over must not pile up behind servers that do not answer.
func (r *runArgs) bound() time.Duration {
	switch {
	case r.wait > 0:
		return max(r.wait, leastBound)
	case r.job.text != "" && r.wait < 0:
		return r.conn.connectTimeout + 2*r.conn.sessionTimeout // for the node of a dead holder
	case r.wait == 0 || r.every > 0 || r.job.text != "":
		return r.conn.connectTimeout
	}
	return 0
}

// sawAnother reports whether a request that was given up had seen somebody before it in the queue.
func sawAnother(err error) bool {
	var failed *locks.Error
	return errors.As(err, &failed) && (failed.State == messages.StateWatching || failed.Behind.Node != "")
}

// heldVariable names the contenders' nodes of all zklocks that a command runs under, a line for each.
const heldVariable = "ZKLOCK_HELD"

// refuseNested refuses to wait for a lock that an outer zklock, under which this one runs, holds: it would wait for
// itself. Where the outer one has lost the lock meanwhile there is nothing to refuse. Nodes are known by their names,
// which are like no other's: their paths may be seen through another chroot.
func (r *runArgs) refuseNested(ctx context.Context, client *locks.Client) error {
	held := map[string]bool{}
	for node := range strings.SplitSeq(os.Getenv(heldVariable), "\n") {
		held[path.Base(node)] = true
	}
	if os.Getenv(heldVariable) == "" {
		return nil
	}
	queue, err := answer(ctx, func(ctx context.Context) ([]messages.Contender, error) { return client.Queue(ctx, r.path) })
	if err != nil {
		return r.notHeld(ctx, err)
	}
	would := "would wait for itself"
	if r.shared || r.permits > 0 {
		would = "may wait for itself, where others wait between"
	}
	for _, c := range queue {
		if held[c.Node] {
			return exitWith(statusRefused, "%s is held by the zklock that runs this one (number %d), which %s; run the command without zklock",
				r.path, c.Sequence, would)
		}
	}
	return nil
}

// flockWaits are the flags of flock(1) for how long to wait.
type flockWaits struct {
	nonblock bool
	timeout  seconds
}

func (w *flockWaits) addTo(f *pflag.FlagSet) {
	f.BoolVarP(&w.nonblock, "nonblock", "n", false, "do not wait, as --wait 0")
	f.VarP(&w.timeout, "timeout", "w", "--wait so many seconds, as flock has it")
}

// seconds are a number of seconds, which may have a fraction, or a time with its unit.
type seconds time.Duration

func (s *seconds) String() string { return "" } // help shows no default: it is --wait's

func (s *seconds) Set(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if !(n >= 0 && n <= 1e9) {
			return fmt.Errorf("it is not between 0 and 1000000000")
		}
		*s = seconds(n * float64(time.Second))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("it is no number of seconds")
	}
	*s = seconds(d)
	return nil
}

func (s *seconds) Type() string { return "seconds" }

// readWaits takes over from the flags of flock how long to wait.
func (r *runArgs) readWaits(cmd *cobra.Command) error {
	given := 0
	for _, name := range []string{"wait", "nonblock", "timeout"} {
		if cmd.Flags().Changed(name) {
			given++
		}
	}
	switch {
	case given > 1:
		return badUse(withFlag(cmd, "--wait 30s"), "%s: --wait, -n and -w all say how long to wait; one will do", cmd.Name())
	case r.flock.nonblock:
		r.wait = 0
	case cmd.Flags().Changed("timeout"):
		r.wait = time.Duration(r.flock.timeout)
	}
	return nil
}

// mostFlag is the flag for how many are too many to wait behind.
const mostFlag = "max-waiters"

// maxHoldFlag is the flag that bounds a hold.
const maxHoldFlag = "max-hold"

// everyFlag is the flag for jobs that machines share.
const everyFlag = "at-most-every"

// checkJob refuses --at-most-every and --for where they mean nothing.
func (r *runArgs) checkJob(cmd *cobra.Command) error {
	given, instant := cmd.Flags().Changed, withFlag(cmd, "--"+forFlag+" 2026-12-24T02:00Z")
	shares := r.shared || given("permits")
	switch {
	case given(forFlag) && given(everyFlag):
		return badUse(instant, "run: --%s and --%s are different ways to run a job", forFlag, everyFlag)
	case given(forFlag) && shares:
		return badUse(instant, "run: --%s is for a lock that one has alone, without --shared and --permits", forFlag)
	case given(everyFlag) && r.every <= 0:
		return badUse(withFlag(cmd, "--"+everyFlag+" 1h"), "run: --%s %v is not above nothing", everyFlag, r.every)
	case given(everyFlag) && shares:
		return badUse(form(cmd), "run: --%s is for a lock that one has alone, without --shared and --permits", everyFlag)
	}
	return nil
}
