// Report runs go test and tells the outcome honestly: what failed with its
// output, what was skipped with its reason, and one closing line with the counts.
//
//	go run ./tests/report [-no-skips] [-first ./tests] [-beside tests/bench,tests/soak] -- <arguments of go test>
//
// Every test counts, subtests too. A package that fails without a failing test,
// because it does not build, times out or exits, counts as one failure. The exit
// status is 0 only when something passed, nothing failed and go test itself is
// content; with -no-skips, a skipped test is a failure of the run as well.
//
// With -beside the same go test runs in other modules, too, one after the other,
// while it runs in this one. A module is named by its folder. The packages of -first, which are of this
// one, come before those that are named last: what takes longest should begin first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "fail when a test was skipped")
	beside := flag.String("beside", "", "folders of other modules, separated by commas, whose tests run at the same time")
	first := flag.String("first", "", "packages, separated by commas, that come before the last argument in this module")
	flag.Parse()
	list := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) }
	if err := run(*noSkips, list(*first), list(*beside), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// run runs the tests of this module, and beside them those of the others.
func run(noSkips bool, first, others, args []string) error {
	tally := newTally(os.Stdout)
	ended := make(chan error, 1)
	go func() {
		var failed error
		for _, folder := range others {
			failed = errors.Join(failed, testIn(tally, folder, args))
		}
		ended <- failed
	}()
	ours := slices.Insert(slices.Clone(args), max(0, len(args)-1), first...)
	err := errors.Join(testIn(tally, ".", ours), <-ended)
	fmt.Println(tally.summary())
	return tally.verdict(noSkips, err)
}

// testIn runs go test in a folder, and counts its outcomes.
func testIn(tally *tally, folder string, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
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
