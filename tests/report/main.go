// Report runs go test and tells the outcome honestly: what failed with its
// output, what was skipped with its reason, and one closing line with the counts.
//
//	go run ./tests/report [-no-skips] [-hermetic] [-brief] [-beside tests/bench,tests/soak] [-plain tests/bench] -- <arguments of go test> [-- <arguments of another>]
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
// other and counted together.
//
// With -beside the same go test runs in other modules, too, two at a time, beside the last list in this
// one. They begin in the order in which they are named, each by its folder. The modules of -plain
// run without -race and -gcflags.
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
	brief := flag.Bool("brief", false, "print no more than a screen: the first failures, and of each its first lines")
	hermetic := flag.Bool("hermetic", false, "select no test that starts a program of others")
	flag.Parse()
	tally := newTally(os.Stdout)
	if *brief {
		tally.screen = &screen{}
	}
	runs := [][]string{nil} // the arguments, split at each "--"
	for _, arg := range flag.Args() {
		if last := len(runs) - 1; arg == "--" {
			runs = append(runs, nil)
		} else {
			runs[last] = append(runs[last], arg)
		}
	}
	if *hermetic {
		for i := range runs {
			runs[i] = append([]string{rig.HermeticSkip}, runs[i]...)
		}
		_ = os.Setenv(rig.HermeticVariable, "1")
	}
	split := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) }
	others, err := modules(split(*beside), split(*plain), runs[len(runs)-1])
	if err == nil {
		err = run(tally, *noSkips, runs, others)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// module is a module of its own, with the arguments of go test there.
type module struct {
	folder string
	args   []string
}

// modules gives the modules in folders, those of plain without -race and without the compiler's flags that go with it: what
// they import is compiled already, without these. Which packages of this module are tested says nothing of theirs: all are.
func modules(folders, plain, args []string) (all []module, err error) {
	for _, folder := range plain {
		if !slices.Contains(folders, folder) {
			return nil, fmt.Errorf("-plain %s is not in -beside", folder)
		}
	}
	for _, folder := range folders {
		withoutRace := slices.Contains(plain, folder)
		flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
			return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "github.com/") || withoutRace && (arg == "-race" || strings.HasPrefix(arg, "-gcflags="))
		})
		all = append(all, module{folder, append(flags, "./...")})
	}
	return all, nil
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
	next, failed := make(chan module, len(all)), make(chan error, lanes)
	for _, m := range all {
		next <- m
	}
	close(next)
	for range lanes {
		go func() {
			var failures error
			for m := range next {
				failures = errors.Join(failures, testIn(tally, m.folder, m.args))
			}
			failed <- failures
		}()
	}
	return errors.Join(<-failed, <-failed)
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
