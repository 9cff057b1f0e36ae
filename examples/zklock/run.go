package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func runCommand(conn *connection) *cobra.Command {
	r := &runArgs{conn: conn}
	cmd := &cobra.Command{
		Use:   "run [flags] PATH -- COMMAND…",
		Short: "take the lock, run the command, give the lock back",
		Long: `run waits for the lock at PATH, runs the command while it is held, and gives it
back when the command has ended. Nobody else who locks PATH runs at that time.

The command's environment has ZKLOCK_PATH, ZKLOCK_NODE and ZKLOCK_TOKEN, the
fencing token: a number that grows from grant to grant. It also has the
credentials that zklock takes from its own, ZKLOCK_AUTH and ZKLOCK_SASL…, for a
zklock inside; --no-credentials takes them out. Signals are passed on
to the command's process group, and the exit status is the command's own: 128 +
n where signal n ended it, 126 where it cannot be run, 127 where it does not
exist.

When the lock is lost, or somebody asks for it (zklock revoke), the command
gets SIGTERM, and SIGKILL when it is still there after --grace.

With --max-hold 1h the same happens to a command that has had the lock for an
hour. The lock is given back when the command is gone, not before. Choose a time
that it never takes on a bad day.

With --at-most-every the command is run only where nobody has run it, with
status 0, for so long: for a job that is in the crontab of several machines. The
time is counted by the servers' clock from the beginning of the last run,
whatever the machines' clocks say, so let it be a little shorter than the time
between two runs in the crontab. Where the command is not due, or somebody is at
it, nothing is run; with --wait that one is waited for, in case it fails. A
command that fails, or has lost the lock, is run again by the next that comes.
Below PATH the nodes ran and clock stay: who ran last, and the servers' time.

With --for the command is run once for each instant of the crontab: the time
that the machines are to agree on, in RFC 3339, with or without seconds. The
minute of date is that time as long as no machine begins a minute late. It is
run by the first to come, however fast it is. One that failed, or was killed,
is run again for the same instant only with --retry-after. An instant that is
older than the newest one, too late by --start-within, or found while an older
run is still going, is run by nobody: exit status 81. The same holds where the
lock is taken by something else than a run, and not free within twice
--session-timeout: a machine that has died is waited for.

Exit status of zklock itself:
  64  bad use
  69  no connection to ZooKeeper, or the servers did not answer
  70  refused: by a node's ACL, by other data than permits, or by the server
  75  the command was not run, as a flag asks: others have the lock, it is not
      due, or it has been run (for systemd: SuccessExitStatus=75)
  79  lost: the command was ended, or ended after the lock was lost
  80  given back: somebody asked for the lock, or --max-hold is over, and the
      command was ended
  81  nobody runs the command for the instant of --for`,
		Example: `  # one machine at a time; give up after 30 s
  zklock run --wait 30s --label nightly /backup -- pg_dump -f /srv/dump orders
  # do nothing where somebody else has it already (cron on every machine)
  zklock run -n /report -- make report
  # wait behind one, and leave the rest of the triggers out
  zklock run --max-waiters 2 /rebuild -- ./rebuild
  # once an hour, on one of all machines that have this in their crontabs
  zklock run --at-most-every 55m /hourly -- ./hourly
  # once for each tick; in a crontab, write each percent sign as \%
  zklock run --for "$(date -u +%FT%H:%MZ)" /nightly -- ./nightly
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
	r.addTo(cmd.Flags())
	r.addRunTo(cmd.Flags())
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp // PATH is not a path of this machine
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
	if r.job.text != "" && r.wait < 0 { // waits for a dead holder, but not for servers
		if err := r.conn.find(waiting, cmd, client, r.path); err != nil && !isMissing(err) {
			return err
		}
	}
	if r.every > 0 || r.job.text != "" {
		return r.runOnce(waiting, client, carry)
	}
	lease, err := r.acquire(waiting, client)
	if err != nil {
		return r.notHeld(waiting, err)
	}
	defer giveBack(lease)
	return carry(lease)
}

// checkLease refuses a grace period that does not fit into leases as short as these, because the
// servers grant a shorter session timeout than was asked for: with --early the command would be
// ended although nothing is wrong. Between two renewals a lease has more than half of its length
// left.
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

// runOnce runs the command unless somebody has within the time, and marks that it has. A command that fails, or has
// lost the lock, leaves no mark.
func (r *runArgs) runOnce(ctx context.Context, client *locks.Client, carry func(*locks.Lease) error) error {
	arrived := showProgress(ctx, client, r.path)
	defer arrived()
	var opts []locks.OnceOption
	for _, opt := range r.options() {
		opts = append(opts, opt)
	}
	if r.wait > 0 {
		opts = append(opts, locks.WithWaiting())
	}
	var end error // of the command
	work := func(ctx context.Context, _ locks.Token) error {
		arrived()
		end = carry(locks.LeaseOf(ctx))
		return end
	}
	var once locks.Once
	var err error
	if r.job.text != "" {
		once, err = locks.RunOnceFor(ctx, client, r.path, r.job.at, work, r.job.options(opts)...)
	} else {
		once, err = locks.RunOnce(ctx, client, r.path, r.every, work, opts...)
	}
	switch {
	case errors.Is(err, locks.ErrNotRun) && !errors.Is(err, context.Canceled): // by a signal
		return exitWith(statusNotRun, "%s: %s (%s); the command was not run", r.path, once.Outcome, short(err))
	case once.Outcome == locks.OnceAlreadyRan:
		return exitWith(statusNotAcquired, "%s: already run (%v); the command was not run", r.path, once.Mark)
	case end != nil:
		return end
	case err != nil && once.Outcome == locks.OnceRan:
		return exitWith(statusLost, "%s: the command is done, and that is not marked, so that it may be run again: %s",
			r.path, short(err))
	case err != nil:
		return r.notHeld(ctx, err)
	case once.Outcome == locks.OnceBusy:
		return exitWith(statusNotAcquired, "%s: somebody is at it%s; the command was not run", r.path, atIt(once))
	case once.Outcome == locks.OnceNotDue:
		return exitWith(statusNotAcquired, "%s: not due for %v (%v); the command was not run", r.path, round(once.Left),
			once.Mark)
	}
	return nil
}

// atIt names the holder of the lock, as far as it is known.
func atIt(once locks.Once) string {
	if once.Holder.Host == "" {
		return ""
	}
	return fmt.Sprintf(" (process %d on %s)", once.Holder.PID, once.Holder.Host)
}

// withoutGroups names what run cannot do without process groups as POSIX has them. Its help says it there.
const withoutGroups = `

On this system run cannot do all of that. When the lock is lost, or somebody
asks for it, the command's own process is ended at once and for good: it is not
told before, and --grace is only the margin of --early. Processes that the
command has started are not ended with it, and may run beside the next holder's.
When zklock itself is killed, the command runs on, and the lock is free when the
session has timed out. No signals are passed on; an interrupt of the console
reaches both. Let what the command writes to check the fencing token.`

// shortOfGroups is the same in a sentence, which run says each time.
const shortOfGroups = "on this system the command is ended without a warning, what it has started is not ended " +
	"with it, and neither is ended when zklock is killed (zklock help run)"
