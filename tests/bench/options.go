package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	ensemble  bool
	peers     bool
	json      bool
	quick     bool
	plot      string
	profile   string
	workloads []string
	only      []string
	sizes     []int
	rounds    int
	warm      time.Duration
	span      time.Duration
	patience  time.Duration
	limit     time.Duration
}

// What -quick sets where a flag does not say otherwise.
const (
	quickRounds = 1
	quickWarm   = 20 * time.Millisecond
	quickSpan   = 100 * time.Millisecond
)

// parse reads the flags.
func parse(args []string, to io.Writer) (options, error) {
	var o options
	var names string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(to)
	f.BoolVar(&o.ensemble, "ensemble", false, "run on an ensemble of three instead of a server alone")
	f.BoolVar(&o.peers, "peers", false, "measure Curator and kazoo, too")
	f.BoolVar(&o.json, "json", false, "print the result as JSON; the lines go to standard error")
	f.BoolVar(&o.quick, "quick", false, "small sizes, short and once: it shows that everything runs, and no speed")
	f.StringVar(&o.plot, "plot", "", "folder to write charts to, as PNG")
	f.StringVar(&names, "workload", "", "workloads, separated by commas; all when empty: "+strings.Join(workloadNames(), ", "))
	f.StringVar(&o.profile, "profile", "", "compare nothing, and write profiles of Turnstile under the hot workloads to this folder")
	f.Func("only", "peers, separated by commas; all when empty", func(text string) error {
		o.only = strings.Split(text, ",")
		return nil
	})
	f.Func("sizes", "sizes, separated by commas; each workload's own when empty", o.readSizes)
	f.IntVar(&o.rounds, "rounds", 5, "rounds")
	f.DurationVar(&o.warm, "warm", 300*time.Millisecond, "least warm-up of a measurement, which is not counted")
	f.DurationVar(&o.span, "span", time.Second, "how long is counted")
	f.DurationVar(&o.patience, "patience", 2*time.Minute, "bound of one measurement")
	f.DurationVar(&o.limit, "limit", 10*time.Minute, "no round of a workload and size begins later than this after its first")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("bench: %q is no flag", f.Arg(0))
	}
	if o.quick {
		o.shorten(f)
	}
	if names != "" {
		o.workloads = strings.Split(names, ",")
	}
	return o, o.check()
}

// readSizes reads -sizes.
func (o *options) readSizes(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(one)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no size", one)
		}
		o.sizes = append(o.sizes, n)
	}
	return nil
}

// shorten sets what -quick means for flags that were not given.
func (o *options) shorten(f *flag.FlagSet) {
	given := map[string]bool{}
	f.Visit(func(one *flag.Flag) { given[one.Name] = true })
	if !given["rounds"] {
		o.rounds = quickRounds
	}
	if !given["warm"] {
		o.warm = quickWarm
	}
	if !given["span"] {
		o.span = quickSpan
	}
}

func (o options) check() error {
	if o.rounds < 1 {
		return fmt.Errorf("bench: -rounds %d is less than 1", o.rounds)
	}
	if o.warm < 0 || o.span <= 0 || o.patience <= 0 || o.limit <= 0 {
		return errors.New("bench: -span, -patience and -limit must be above 0, and -warm not below")
	}
	for _, name := range o.workloads {
		if _, ok := workloadNamed(name); !ok {
			return fmt.Errorf("bench: -workload %q is none of %s", name, strings.Join(workloadNames(), ", "))
		}
	}
	return nil
}
