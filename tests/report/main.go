// Report runs go test and tells the outcome honestly: what failed with its
// output, what was skipped with its reason, and one closing line with the counts.
//
//	go run ./tests/report [-no-skips] -- <arguments of go test>
//
// Every test counts, subtests too. A package that fails without a failing test,
// because it does not build, times out or exits, counts as one failure. The exit
// status is 0 only when something passed, nothing failed and go test itself is
// content; with -no-skips, a skipped test is a failure of the run as well.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "fail when a test was skipped")
	flag.Parse()
	if err := run(*noSkips, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(noSkips bool, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	tally := newTally(os.Stdout)
	readErr := tally.read(events)
	waitErr := cmd.Wait()
	fmt.Println(tally.summary())
	return errors.Join(readErr, tally.verdict(noSkips, waitErr))
}
