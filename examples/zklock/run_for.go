package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnstile-locks/turnstile/locks"
)

// instantArgs are the flags of a run for an instant.
type instantArgs struct {
	text          string // "" for none
	at            time.Time
	startDeadline time.Duration
	retryAfter    time.Duration // negative: never
}

const (
	forFlag      = "for"
	lateFlag     = "start-within"
	retryForFlag = "retry-after"
)

func (i *instantArgs) addTo(f *pflag.FlagSet) {
	f.StringVar(&i.text, forFlag, "", "run it once for this `instant`, on whatever\nmachine: 2026-12-24T02:00Z")
	f.DurationVar(&i.startDeadline, lateFlag, 0, "with --for: not when so much time has passed\nsince, by the servers' clock")
	f.DurationVar(&i.retryAfter, retryForFlag, -1, "with --for: run it again, this long after it\nfailed")
	f.Lookup(lateFlag).DefValue = "0s" // so that help shows none
	f.Lookup(retryForFlag).DefValue = "0s"
}

// options gives the options of the run, added to the options of every job.
func (i *instantArgs) options(of []locks.OnceOption) (opts []locks.InstantOption) {
	for _, opt := range of {
		opts = append(opts, opt)
	}
	if i.startDeadline > 0 {
		opts = append(opts, locks.WithStartDeadline(i.startDeadline))
	}
	if i.retryAfter >= 0 {
		opts = append(opts, locks.WithRetryAfter(i.retryAfter))
	}
	return opts
}

// checkInstant refuses what is no instant, and flags that mean nothing. The zone has to be there: machines may have
// different ones.
func (r *runArgs) checkInstant(cmd *cobra.Command) error {
	given, example := cmd.Flags().Changed, withFlag(cmd, "--"+forFlag+" 2026-12-24T02:00Z")
	if !given(forFlag) {
		for _, flag := range []string{lateFlag, retryForFlag} {
			if given(flag) {
				return badUse(example, "run: --%s is for a run with --%s", flag, forFlag)
			}
		}
		return nil
	}
	var err error
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if r.job.at, err = time.Parse(layout, r.job.text); err == nil {
			break
		}
	}
	switch {
	case err != nil || r.job.at.IsZero():
		return badUse(example, "run: --%s %q is no instant in RFC 3339, with its zone", forFlag, r.job.text)
	case given(everyFlag):
		return badUse(example, "run: --%s and --%s are different ways to run a job", forFlag, everyFlag)
	case r.shared || given("permits"):
		return badUse(example, "run: --%s is for a lock that one has alone, without --shared and --permits", forFlag)
	case r.job.startDeadline < 0:
		return badUse(withFlag(cmd, "--"+lateFlag+" 1h"), "run: --%s %v is less than nothing", lateFlag, r.job.startDeadline)
	case given(retryForFlag) && r.job.retryAfter < 0:
		return badUse(withFlag(cmd, "--"+retryForFlag+" 0s"), "run: --%s %v is less than nothing", retryForFlag, r.job.retryAfter)
	}
	return nil
}
