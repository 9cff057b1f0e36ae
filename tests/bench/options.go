package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	ensemble  bool
	peers     bool
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
}

// quick is what -quick sets where a flag does not say otherwise.
var quick = map[string]string{"rounds": "1", "warm": "20ms", "span": "100ms"}

// parse reads the flags.
func parse(args []string, to io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(to)
	f.BoolVar(&o.ensemble, "ensemble", false, "run on an ensemble of three instead of a server alone")
	f.BoolVar(&o.peers, "peers", false, "measure Curator and kazoo, too")
	f.BoolVar(&o.quick, "quick", false, "small sizes, short and once: it shows that everything runs, and no speed")
	f.StringVar(&o.plot, "plot", "", "folder to write charts to, as PNG")
	f.Func("workload", "workloads, separated by commas; all when empty: "+strings.Join(workloadNames(), ", "), list(&o.workloads))
	f.StringVar(&o.profile, "profile", "", "compare nothing, and write profiles of Turnstile under the hot workloads to this folder")
	f.Func("only", "peers, separated by commas; all when empty", list(&o.only))
	f.Func("sizes", "sizes, separated by commas; each workload's own when empty", o.readSizes)
	f.IntVar(&o.rounds, "rounds", 5, "rounds")
	f.DurationVar(&o.warm, "warm", 300*time.Millisecond, "least warm-up of a measurement, which is not counted")
	f.DurationVar(&o.span, "span", time.Second, "how long is counted")
	f.DurationVar(&o.patience, "patience", 2*time.Minute, "bound of one measurement")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("bench: %q is no flag", f.Arg(0))
	}
	if o.quick {
		given := map[string]bool{}
		f.Visit(func(one *flag.Flag) { given[one.Name] = true })
		for name, value := range quick {
			if !given[name] {
				_ = f.Set(name, value)
			}
		}
	}
	return o, o.check()
}

// list reads words.
func list(into *[]string) func(string) error {
	return func(text string) error {
		*into = strings.Split(text, ",")
		return nil
	}
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

func (o options) check() error {
	if o.rounds < 1 {
		return fmt.Errorf("bench: -rounds %d is less than 1", o.rounds)
	}
	if o.warm < 0 || o.span <= 0 || o.patience <= 0 {
		return errors.New("bench: -span and -patience must be above 0, and -warm not below")
	}
	for _, name := range o.workloads {
		if !slices.Contains(workloadNames(), name) {
			return fmt.Errorf("bench: -workload %q is none of %s", name, strings.Join(workloadNames(), ", "))
		}
	}
	return nil
}
