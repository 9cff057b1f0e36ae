package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// runArgs is what is asked of run.
type runArgs struct {
	conn    *connection
	shared  bool
	permits int
	wait    time.Duration // negative: for ever
	flock   flockWaits    // other ways to say wait
	label   string
	grace   time.Duration
	early   bool
	keep    bool
	every   time.Duration // zero: whenever it is run
	silent  bool          // the servers were found not to answer
	path    string
	command []string
}

func runCommand(conn *connection) *cobra.Command {
	r := &runArgs{conn: conn}
	cmd := &cobra.Command{
		Use:         "run [flags] PATH -- COMMAND…",
		Annotations: map[string]string{argsKey: "PATH -- COMMAND…"},
		Short:       "take the lock, run the command, give the lock back",
		Long: `run waits for the lock at PATH, runs the command while it is held, and gives it
back when the command has ended. Nobody else who locks PATH runs at that time.

The command's environment has ZKLOCK_PATH, ZKLOCK_NODE and ZKLOCK_TOKEN, the
fencing token: a number that grows from grant to grant. Signals are passed on
to the command's process group, and the exit status is the command's own: 128 +
n where signal n ended it, 126 where it cannot be run, 127 where it does not
exist.

When the lock is lost, or somebody asks for it (zklock revoke), the command
gets SIGTERM, and SIGKILL when it is still there after --grace.

With --at-most-every the command is run only where nobody has run it, with
status 0, for so long: for a job that is in the crontab of several machines. The
time is counted by the servers' clock from the beginning of the last run,
whatever the machines' clocks say, so let it be a little shorter than the time
between two runs in the crontab. Where the command is not due, or somebody is at
it, nothing is run; with --wait that one is waited for, in case it fails. A
command that fails, or has lost the lock, is run again by the next that comes.
Below PATH the nodes ran and clock stay: who ran last, and the servers' time.

Exit status of zklock itself:
  64  bad use
  69  no connection to ZooKeeper, or the servers did not answer
  70  refused: by a node's ACL, another number of permits, or the server
  75  the command was not run: --wait is over while others had the lock, or with
      --at-most-every it is not due, or somebody is at it (for systemd:
      SuccessExitStatus=75)
  79  lost: the command was ended, or ended after the lock was lost
  80  given back: somebody asked for the lock, and the command was ended`,
		Example: `  # one machine at a time; give up after 30 s
  zklock run --wait 30s --label nightly /backup -- pg_dump -f /srv/dump orders
  # do nothing where somebody else has it already (cron on every machine)
  zklock run -n /report -- make report
  # once an hour, on one of all machines that have this in their crontabs
  zklock run --at-most-every 55m /hourly -- ./hourly
  # readers together, a writer alone
  zklock run --shared /catalogue -- ./serve
  zklock run /catalogue -- ./rebuild
  # at most four at a time, everywhere
  zklock run --permits 4 /encoders -- ffmpeg -i in.mov out.mp4
  # for a store that knows what a fencing token is
  zklock run /orders -- sh -c 'curl -H "X-Fence: $ZKLOCK_TOKEN" https://store'`,
		Args: r.check,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	if !processGroups {
		cmd.Long += withoutGroups
	}
	f := cmd.Flags()
	f.BoolVar(&r.shared, "shared", false, "hold it together with others that say --shared")
	f.IntVar(&r.permits, "permits", 0, "let `N` hold it together, all of whom name the\nsame number")
	f.DurationVar(&r.wait, "wait", -1, "give up after this time, connecting included\n(1s at least); 0: where it is not free\n(default: wait for ever)")
	r.flock.addTo(f)
	f.StringVar(&r.label, "label", "", "a `text` for people who look at the queue")
	f.DurationVar(&r.grace, "grace", 5*time.Second, "the time from SIGTERM to SIGKILL")
	f.BoolVar(&r.early, "early", false, "end the command a grace period before the lease\nis over, not after it")
	f.BoolVar(&r.keep, "keep", false, "go on when somebody asks for the lock")
	f.DurationVar(&r.every, everyFlag, 0, "run it only where nobody has for this time, by\nthe servers' clock")
	f.Lookup("wait").DefValue = "0s" // so that help shows none
	f.Lookup(everyFlag).DefValue = "0s"
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp // PATH is none of this machine's
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// check takes PATH and COMMAND apart.
func (r *runArgs) check(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) < 2, dash >= 0 && len(args) == dash && dash > 0, len(args) == 0:
		missing := "COMMAND"
		if len(args) == 0 || dash == 0 {
			missing = "PATH"
		}
		return badUse(form(cmd), "run: %s is missing", missing)
	case dash == 0:
		return badUse(form(cmd), "run: PATH is missing before --")
	case dash < 0:
		return badUse(form(cmd), "run: -- is missing between PATH and COMMAND, so that it is clear whose the flags are")
	case dash > 1:
		return badUse(form(cmd), "run: %q is one argument too many before --", args[1])
	}
	r.path, r.command = args[0], args[1:]
	if err := checkArgument(cmd, "PATH", r.path); err != nil {
		return err
	}
	return r.checkFlags(cmd)
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
	case r.grace < 0:
		return badUse(withFlag(cmd, "--grace 5s"), "run: --grace %v is less than nothing", r.grace)
	case r.early && r.grace > r.conn.sessionTimeout/10:
		return badUse(withFlag(cmd, fmt.Sprintf("--early --grace %v", r.conn.sessionTimeout/10)),
			"run: with --early, --grace %v is more than a tenth of the session timeout (%v)", r.grace,
			r.conn.sessionTimeout)
	}
	if err := actors.CheckAcquire(messages.Acquire{Path: r.path, Label: r.label}); err != nil {
		return badUse(withFlag(cmd, "--label TEXT"), "%s: %v", cmd.Name(), err)
	}
	return r.checkEvery(cmd)
}

// run is the whole of it: from the connection to the exit status.
func (r *runArgs) run(cmd *cobra.Command) error {
	if _, err := r.conn.settings(cmd); err != nil {
		return err
	}
	program, err := exec.LookPath(r.command[0])
	if err != nil {
		return cannotRun(r.command[0], err)
	}
	ctx, signalled := untilSignals(cmd.Context())
	signalled = sync.OnceFunc(signalled)
	defer signalled()
	waiting, lift := limited(ctx, r.bound())
	defer lift()
	client, err := r.conn.open(waiting, cmd)
	if err != nil {
		return err
	}
	voice := newVoice()
	defer voice.close() // last of all: nobody may be reading
	defer func() { closeClient(client, r.silent) }()
	if err := r.refuseNested(waiting, client); err != nil {
		return err
	}
	if !processGroups {
		voice.say("run: %s", shortOfGroups)
	}
	guard := startGuard()
	defer guard.done()
	carry := func(lease *locks.Lease) error {
		lift()
		h := &hold{runArgs: r, lease: lease, guard: guard, signals: passSignals(), voice: voice}
		signalled() // from here on they are the command's
		if ctx.Err() != nil {
			return context.Cause(ctx) // one came just before
		}
		if err := r.checkLease(cmd, client); err != nil {
			return err
		}
		return h.carry(program)
	}
	if r.every > 0 {
		return r.runOnce(waiting, client, carry)
	}
	lease, err := r.acquire(waiting, client)
	if err != nil {
		return r.notHeld(waiting, err)
	}
	defer giveBack(lease)
	return carry(lease)
}

// checkLease refuses a grace period that does not fit into leases as short as these, because the servers grant a shorter
// session timeout than was asked for: with --early the command would be ended although nothing is wrong. Between two
// renewals more than half of what a renewal gives is left.
func (r *runArgs) checkLease(cmd *cobra.Command, client *locks.Client) error {
	granted := client.Session().Timeout()
	renewed := time.Duration(zkconn.SteadyLease * float64(granted))
	if !r.early || r.grace <= renewed/2 {
		return nil
	}
	return badUse(withFlag(cmd, fmt.Sprintf("--early --grace %v", round(renewed/4))),
		"run: with --early, --grace %v is too much for the leases that there are, because the servers grant a session "+
			"timeout of %v in place of %v (zklock doctor says more)", r.grace, granted, r.conn.sessionTimeout)
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

// options are those of the lock.
func (r *runArgs) options() (opts []locks.LockOption) {
	if r.label != "" {
		opts = append(opts, locks.WithLabel(r.label))
	}
	return opts
}

// unrun says what follows from a lock that was not had.
func (r *runArgs) unrun() string {
	if r.command == nil {
		return ""
	}
	return "; the command was not run"
}

// notHeld is the error of a lock that was not had.
func (r *runArgs) notHeld(ctx context.Context, err error) error {
	over, isOver := overIn(ctx, err)
	switch {
	case isOver && r.wait > 0 && sawAnother(err):
		return exitWith(statusNotAcquired,
			"%s was not free within %v%s (zklock queue %s shows who holds it)", r.path, over.after, r.unrun(), r.path)
	case isOver:
		r.silent = true
		return exitWith(statusUnreachable, "%s: the servers did not answer within %v%s; zklock doctor tells more", r.path,
			over.after, r.unrun())
	case ctx.Err() != nil: // a signal
		return context.Cause(ctx)
	case errors.Is(err, locks.ErrNotAcquired):
		return exitWith(statusNotAcquired,
			"%s is not free%s (zklock queue %s shows who holds it)", r.path, r.unrun(), r.path)
	case errors.Is(err, locks.ErrLost):
		return exitWith(statusLost, "%s: the lock was lost%s: %s", r.path, r.unrun(), short(err))
	case errors.Is(err, locks.ErrPermits):
		return exitWith(statusRefused, "%s has another number of permits than %d: %s", r.path, r.permits, short(err))
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
