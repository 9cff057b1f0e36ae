package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	scenarios []*scenario
	trials    int
	width     int
	timeout   time.Duration
	tick      time.Duration
	askFrom   float64
	askTo     float64
	sessions  int
	lines     int
	seed      uint64
	json      bool
	verbose   bool
}

// parse reads the flags.
func parse(args []string, errors io.Writer) (options, error) {
	var o options
	var names, ask string
	f := flag.NewFlagSet("stalls", flag.ContinueOnError)
	f.SetOutput(errors)
	f.StringVar(&names, "scenario", "all", "scenarios or beginnings of their names, separated by commas; help lists them")
	f.IntVar(&o.trials, "trials", 200, "trials of each scenario")
	f.IntVar(&o.width, "width", 40, "trials that one fault befalls")
	f.DurationVar(&o.timeout, "timeout", 2*time.Second, "session timeout T")
	f.DurationVar(&o.tick, "tick", 500*time.Millisecond, "tick of the servers, at most T/2")
	f.StringVar(&ask, "ask", "0.2-0.9", "when locks are asked for after a stall has begun, in T")
	f.IntVar(&o.sessions, "sessions", 600, "other sessions that expire at the same time, in masses-...")
	f.IntVar(&o.lines, "lines", 800, "lines a second that the servers' log takes, in masses-...; a million: as fast as it can")
	f.Uint64Var(&o.seed, "seed", 1, "what times are drawn from")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	f.BoolVar(&o.verbose, "v", false, "print every round and every overlap")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if names == "help" {
		return o, fmt.Errorf("the scenarios:\n%s", listed())
	}
	if _, err := fmt.Sscanf(ask, "%f-%f", &o.askFrom, &o.askTo); err != nil || !(0 <= o.askFrom && o.askFrom < o.askTo) {
		return o, fmt.Errorf("-ask %q: want two numbers such as 0.2-0.9, in session timeouts", ask)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.trials < 1 || o.width < 1 {
		return o, fmt.Errorf("-trials %d, -width %d: want one at least", o.trials, o.width)
	}
	if o.sessions < 1 || o.lines < 1 {
		return o, fmt.Errorf("-sessions %d, -lines %d: want one at least", o.sessions, o.lines)
	}
	if o.tick < 10*time.Millisecond || o.timeout < 2*o.tick {
		return o, fmt.Errorf("-tick %v, -timeout %v: servers grant no session timeout below two ticks", o.tick, o.timeout)
	}
	var err error
	o.scenarios, err = chosen(names)
	return o, err
}

// pace is the time that servers take to log the end of all sessions.
func (o options) pace() time.Duration {
	return time.Duration(o.sessions) * time.Second / time.Duration(o.lines)
}

// chosen is the scenarios whose names begin with one of those given.
func chosen(names string) (found []*scenario, err error) {
	for name := range strings.SplitSeq(names, ",") {
		before := len(found)
		for _, s := range scenarios {
			if (name == "all" || name != "" && strings.HasPrefix(s.name, name)) && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("-scenario %q names nothing new; the scenarios:\n%s", name, listed())
		}
	}
	return found, nil
}

func listed() string {
	var b strings.Builder
	for _, s := range scenarios {
		fmt.Fprintf(&b, "  %-16s %s\n", s.name, s.about)
	}
	return b.String()
}
