package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	suites []suite
	tries  int
	folder string // for the files that the suites write
}

// parse reads the flags and makes the folder.
func parse(args []string, errors io.Writer) (options, error) {
	var o options
	var names string
	f := flag.NewFlagSet("peersuites", flag.ContinueOnError)
	f.SetOutput(errors)
	f.StringVar(&names, "suite", "all", "suites, separated by commas: "+strings.Join(suiteNames(), ", "))
	f.IntVar(&o.tries, "tries", 3, "how often a test is run, at most, until it passes")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.tries < 1 {
		return o, fmt.Errorf("-tries %d: want one at least", o.tries)
	}
	for name := range strings.SplitSeq(names, ",") {
		if name != "all" && !slices.Contains(suiteNames(), name) {
			return o, fmt.Errorf("-suite %q: there are %s", name, strings.Join(suiteNames(), ", "))
		}
	}
	for _, s := range suites {
		if names == "all" || slices.Contains(strings.Split(names, ","), s.name) {
			o.suites = append(o.suites, s)
		}
	}
	var err error
	o.folder, err = os.MkdirTemp("", "turnstile-peersuites-")
	return o, err
}
