package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

func (s *seconds) String() string { return "" } // help shows no default: it is that of --wait

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
