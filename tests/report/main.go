// Report runs go test and tells the outcome honestly: what failed with its
// output, what was skipped with its reason, and one closing line with the counts.
//
//	go run ./tests/report [-no-skips] [-hermetic] [-brief] [-first ./tests/matrix] [-without ./actors/queue] [-beside tests/bench,tests/soak] [-plain tests/bench] [-closing "…"] -- <arguments of go test> [-- <arguments of another>]
//
// Every test counts, subtests too. A package that fails without a failing test,
// because it does not build, times out or exits, counts as one failure. The exit
// status is 0 only when something passed, nothing failed and go test itself is
// content; with -no-skips, a skipped test is a failure of the run as well. With
// -brief, failures are cut to a screen, and packages that pass and tests
// that are skipped are counted only.
//
// With -hermetic tests that start a program of others, such as a ZooKeeper, are not selected, and one
// that does so all the same fails: see rig.Hermetic. Several lists of arguments are run one after the
// other and counted together; -first, -without and -beside go with the last one.
//
// With -beside the same go test runs in other modules, too, two at a time, while it runs in this
// one. They begin in the order in which they are named, each by its folder. The modules of -plain
// run without -race and -gcflags. The packages of -first, which are of this module, come before the
// packages that are named last: the longest should begin first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "fail when a test was skipped")
	beside := flag.String("beside", "", "folders of other modules, separated by commas, whose tests run at the same time")
	plain := flag.String("plain", "", "those of -beside, separated by commas, whose tests run without -race")
	first := flag.String("first", "", "packages, separated by commas, that come before the last argument in this module")
	without := flag.String("without", "", "packages, separated by commas, that are left out of the last argument in this module")
	brief := flag.Bool("brief", false, "print no more than a screen: the first failures, and of each its first lines")
	hermetic := flag.Bool("hermetic", false, "select no test that starts a program of others")
	closing := flag.String("closing", "", "what the last line says behind the counts, where all is well")
	flag.Parse()
	split := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) }
	runs := lists(flag.Args())
	if *hermetic {
		for i := range runs {
			runs[i] = append([]string{rig.HermeticSkip}, runs[i]...)
		}
		if err := os.Setenv(rig.HermeticVariable, "1"); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(1)
		}
	}
	last := len(runs) - 1
	others, err := modules(split(*beside), split(*plain), runs[last])
	ours, wrong := packages(split(*first), split(*without), runs[last])
	if err = errors.Join(err, wrong); err == nil {
		runs[last] = ours
		tally := newTally(os.Stdout)
		if *brief {
			tally.screen = &screen{}
		}
		err = run(tally, *noSkips, runs, others)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
	if *closing != "" {
		fmt.Println(*closing)
	}
}

// lists splits the arguments at each "--".
func lists(args []string) [][]string {
	all := [][]string{nil}
	for _, arg := range args {
		if last := len(all) - 1; arg == "--" {
			all = append(all, nil)
		} else {
			all[last] = append(all[last], arg)
		}
	}
	return all
}

// lanes is the number of other modules that are tested at the same time.
const lanes = 2

// run runs the tests of this module, one list of arguments after the other, and beside the last one those of the others.
func run(tally *tally, noSkips bool, ours [][]string, others []module) error {
	var err error
	for _, args := range ours[:len(ours)-1] {
		err = errors.Join(err, testIn(tally, ".", args))
	}
	ended := make(chan error, 1)
	go func() { ended <- testBeside(tally, others) }()
	err = errors.Join(err, testIn(tally, ".", ours[len(ours)-1]), <-ended)
	fmt.Println(tally.summary())
	return tally.verdict(noSkips, err)
}

// testBeside runs go test in other modules, as many at a time as there are lanes.
func testBeside(tally *tally, all []module) error {
	next := make(chan module, len(all))
	for _, m := range all {
		next <- m
	}
	close(next)
	failed := make(chan error, lanes)
	for range lanes {
		go func() {
			var failures error
			for m := range next {
				failures = errors.Join(failures, testIn(tally, m.folder, m.args))
			}
			failed <- failures
		}()
	}
	var failures error
	for range lanes {
		failures = errors.Join(failures, <-failed)
	}
	return failures
}

// testIn runs go test in a folder, and counts its outcomes.
func testIn(tally *tally, folder string, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // which it needs, and others may be linked without
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("in %s: %w", folder, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("in %s: start go test: %w", folder, err)
	}
	readErr := tally.read(events)
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return fmt.Errorf("in %s: %w", folder, err)
	}
	return nil
}
