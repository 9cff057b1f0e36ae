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

// read reads the instant, and refuses flags that mean nothing. The zone has to be there: machines may have different
// ones.
func (i *instantArgs) read(cmd *cobra.Command) error {
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
		if i.at, err = time.Parse(layout, i.text); err == nil {
			break
		}
	}
	switch {
	case err != nil || i.at.IsZero():
		return badUse(example, "run: --%s %q is no instant in RFC 3339, with its zone", forFlag, i.text)
	case i.startDeadline < 0:
		return badUse(withFlag(cmd, "--"+lateFlag+" 1h"), "run: --%s %v is less than nothing", lateFlag, i.startDeadline)
	case given(retryForFlag) && i.retryAfter < 0:
		return badUse(withFlag(cmd, "--"+retryForFlag+" 0s"), "run: --%s %v is less than nothing", retryForFlag, i.retryAfter)
	}
	return nil
}
