// Halts runs a test binary and stops its process over and over, for random times, as a busy machine may:
//
//	go build -o /tmp/halts ./tests/halts
//	go test -exec "/tmp/halts -run 300ms -stop 150ms" ./tests/leases
//
// The times are averages. One stop in fifty takes a second more. Processes that the binary has started, such as
// servers, are not stopped. No test depends on speed: make halts runs this module's so, but those of pure decisions
// and of the pages.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

func main() {
	run := flag.Duration("run", 300*time.Millisecond, "for how long it runs, on average")
	stop := flag.Duration("stop", 150*time.Millisecond, "for how long it is stopped, on average")
	flag.Parse()
	if _, err := halt(flag.Args(), *run, *stop); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() > 0 {
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "halts:", err)
		os.Exit(1)
	}
}

// halt runs a command until it ends, and gives its error, and how often it was stopped.
func halt(command []string, run, stop time.Duration) (stops int, err error) {
	if len(command) == 0 {
		return 0, errors.New("no command")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	p, err := rig.StartProcess(cmd, nil)
	if err != nil {
		return 0, err
	}
	for ; ; stops++ {
		select {
		case <-p.Exited():
			return stops, p.Err()
		case <-time.After(upTo(2 * run)):
		}
		if err := p.Pause(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return stops, err
		}
		d := upTo(2 * stop)
		if rand.IntN(50) == 0 {
			d += time.Second
		}
		time.Sleep(d)
		if err := p.Resume(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return stops, err
		}
	}
}

// upTo is a random time below d.
func upTo(d time.Duration) time.Duration { return time.Duration(rand.Int64N(max(int64(d), 1))) }
