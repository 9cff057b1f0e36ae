package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// asked is the change that packages are asked about.
type asked struct {
	*suites
	overlay string // empty where nothing is changed
	env     []string
	skip    string // the flag
	quiet   time.Duration
	unsure  string // what may have found it
}

// outcome is what a run of tests has come to: the first test that has failed, stands still, or ran as all crashed.
type outcome struct {
	how  string // empty where all have passed
	test string
	took time.Duration // to run, once compiled, where all have passed
}

const (
	failed  = "failed"
	stands  = "stands still"
	crashed = "crashed"
)

// ask runs the tests of a package, or one. It gives the test that finds the change: one that fails when it is run again, or
// that stands still by itself, which it does not without the change.
func (a *asked) ask(name, test string) (string, error) {
	o, err := a.run(name, test, a.quiet, bound)
	if o.how == "" || err != nil {
		return "", err
	}
	found := strings.TrimSpace(name + " " + o.test)
	if o.how == stands {
		found = "timeout in " + found
		is, err := a.standsStill(name, o.test)
		if is || err != nil {
			return found, err
		}
	} else {
		top, _, _ := strings.Cut(o.test, "/")
		for _, again := range slices.Compact([]string{o.test, top, test}) { // a subtest may need those before it
			if o, err := a.run(name, again, bound, bound); o.how != "" || err != nil {
				return found, err
			}
		}
	}
	a.unsure = cmp.Or(a.unsure, found)
	return "", nil
}

// standsStill reports whether a test takes more than ten times as long by itself as without the change, and as quiet.
func (a *asked) standsStill(name, test string) (bool, error) {
	without := *a
	without.overlay = ""
	o, err := without.run(name, test, bound, bound)
	if o.how != "" || err != nil {
		return false, err
	}
	allowed := a.quiet + 10*o.took
	o, err = a.run(name, test, allowed, allowed)
	return o.how != "", err
}

// run runs the tests of a package, those of a pattern or all, until one fails, or says nothing for as long as still. The programs
// that tests build have the change, too.
func (a *asked) run(name, test string, still, within time.Duration) (outcome, error) {
	cmd := exec.Command("go", "test", "-json", "-count=1", "-failfast", "-vet=off", "-ldflags=-w", "-timeout=0", a.skip, "-run="+exactly(test), "./"+name)
	flags := "GOFLAGS=" + os.Getenv("GOFLAGS")
	if a.overlay != "" {
		flags += " -overlay=" + a.overlay
	}
	cmd.Dir, cmd.Env = a.root, append(append(os.Environ(), flags, "GOGC=400"), a.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that what tests start ends with them
	output, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	type event struct{ Action, Test, Output, FailedBuild string }
	events := make(chan event)
	go func() {
		defer close(events)
		for from := json.NewDecoder(output); ; {
			var e event
			if from.Decode(&e) != nil {
				return
			}
			events <- e
		}
	}()
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		for range events {
		}
		_ = cmd.Wait()
	}()
	var running []string
	last := func() string { return append([]string{""}, running...)[len(running)] } // that has begun last
	var begin time.Time                                                             // when it is compiled
	passed, silence, over := false, bound, time.After(bound+within)
	for {
		select {
		case e, more := <-events:
			if begin.IsZero() {
				begin, silence, over = time.Now(), still, time.After(within)
			}
			running = slices.DeleteFunc(running, func(other string) bool { return e.Action != "output" && other == e.Test })
			switch {
			case !more && passed:
				return outcome{took: time.Since(begin)}, nil
			case !more:
				return outcome{how: crashed, test: last()}, nil
			case e.FailedBuild != "":
				return outcome{}, fmt.Errorf("tests of %s do not compile", name)
			case e.Test == "" && (e.Action == "pass" || e.Action == "skip"):
				passed = true
			case e.Test == "":
			case e.Action == "fail":
				return outcome{how: failed, test: e.Test}, nil
			case e.Action == "run", e.Action == "cont":
				running = append(running, e.Test)
			}
		case <-time.After(silence):
			return outcome{how: stands, test: last()}, nil
		case <-over:
			return outcome{how: stands, test: last()}, nil
		}
	}
}

// exactly is the pattern of one test, or of all.
func exactly(test string) string {
	if test == "" {
		return "."
	}
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return path.Join(parts...)
}
