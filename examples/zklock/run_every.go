package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
)

// everyFlag is the flag for jobs that machines share.
const everyFlag = "at-most-every"

// checkEvery refuses --at-most-every where it means nothing.
func (r *runArgs) checkEvery(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case !given(everyFlag):
		return nil
	case r.every <= 0:
		return badUse(withFlag(cmd, "--"+everyFlag+" 1h"), "run: --%s %v is not above nothing", everyFlag, r.every)
	case r.shared || given("permits"):
		return badUse(form(cmd), "run: --%s is for a lock that one has alone, without --shared and --permits", everyFlag)
	}
	return nil
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
	once, err := locks.RunOnce(ctx, client, r.path, r.every, func(ctx context.Context, _ locks.Token) error {
		arrived()
		end = carry(locks.LeaseOf(ctx))
		return end
	}, opts...)
	switch {
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

// atIt says who has the lock, as far as that is known.
func atIt(once locks.Once) string {
	if once.Holder.Host == "" {
		return ""
	}
	return fmt.Sprintf(" (process %d on %s)", once.Holder.PID, once.Holder.Host)
}
