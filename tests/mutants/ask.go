package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// asked is the change that packages are asked about.
type asked struct {
	*suites
	folder, overlay string // overlay is empty where nothing is changed
	env             []string
	skip            string // the flag
	quiet           time.Duration
	unsure          string // what may have found it
}

// outcome is what a run of tests has come to: the first test that has failed, stands still, or ran as all crashed.
type outcome struct {
	how  string // empty where all have passed
	test string
}

const (
	failed  = "failed"
	stands  = "stands still"
	crashed = "crashed"
)

// ask runs the tests of a package, or one. It gives the test that finds the change: one that fails when it is run again, or
// that stands still by itself, which it does not without the change.
func (a *asked) ask(name, test string) (string, error) {
	program, err := a.build(name)
	if err != nil {
		return "", err
	}
	defer os.Remove(program)
	o := a.run(name, program, test, a.quiet, bound)
	if o.how == "" {
		return "", nil
	}
	found := strings.TrimSpace(name + " " + o.test)
	if o.how == stands {
		found = "timeout in " + found
		is, err := a.standsStill(name, program, o.test)
		if is || err != nil {
			return found, err
		}
	} else {
		top, _, _ := strings.Cut(o.test, "/")
		for _, again := range slices.Compact([]string{o.test, top, test}) { // a subtest may need those before it
			if a.run(name, program, again, bound, bound).how != "" {
				return found, nil
			}
		}
	}
	a.unsure = cmp.Or(a.unsure, found)
	return "", nil
}

// standsStill reports whether a test takes more than ten times as long by itself as without the change, and as quiet.
func (a *asked) standsStill(name, program, test string) (bool, error) {
	without := asked{suites: a.suites, folder: a.folder, quiet: a.quiet, env: a.env, skip: a.skip}
	unchanged, err := without.build(name)
	if err != nil {
		return false, err
	}
	defer os.Remove(unchanged)
	begin := time.Now()
	if without.run(name, unchanged, test, bound, bound).how != "" {
		return false, nil
	}
	allowed := a.quiet + 10*time.Since(begin)
	return a.run(name, program, test, allowed, allowed).how != "", nil
}

// build compiles the tests of a package.
func (a *asked) build(name string) (string, error) {
	program := filepath.Join(a.folder, strings.ReplaceAll(name, "/", "_")+".test")
	if a.overlay == "" {
		program += ".unchanged"
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-w", "-o", program, "./"+name)
	cmd.Dir, cmd.Env = a.root, append(os.Environ(), a.flags())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tests of %s: %w: %s", name, err, said)
	}
	return program, nil
}

// flags are the variable that has the overlay: the programs that tests build have the change, too.
func (a *asked) flags() string {
	flags := "GOFLAGS=" + os.Getenv("GOFLAGS")
	if a.overlay != "" {
		flags += " -overlay=" + a.overlay
	}
	return flags
}

// spoken matches what a test binary says of a test. With -v=test2json it says at once that a subtest has failed.
var spoken = regexp.MustCompile(`^\x16?\s*(=== RUN|=== PAUSE|=== CONT|--- PASS:|--- FAIL:|--- SKIP:)\s+(\S+)`)

// run runs the tests of a program, those of a pattern or all, until one fails, or prints nothing for as long as still.
func (a *asked) run(name, program, test string, still, within time.Duration) outcome {
	cmd := exec.Command(program, "-test.v=test2json", "-test.failfast", "-test.paniconexit0", "-test.timeout=0", "-test."+strings.TrimPrefix(a.skip, "-"), "-test.run="+exactly(test))
	cmd.Dir = filepath.Join(a.root, filepath.FromSlash(name))
	cmd.Env = append(append(os.Environ(), a.flags(), "GOGC=400"), a.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that what tests start ends with them
	output, input, err := os.Pipe()
	if err != nil {
		return outcome{crashed, err.Error()}
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = input, input
	err = cmd.Start()
	input.Close()
	if err != nil {
		return outcome{crashed, err.Error()}
	}
	ended := make(chan error, 1)
	lines := make(chan string)
	go func() {
		scan := bufio.NewScanner(output)
		scan.Buffer(nil, 1<<24)
		for scan.Scan() {
			lines <- scan.Text()
		}
		close(lines)
	}()
	go func() {
		err := cmd.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has started
		ended <- err
	}()
	kill := func() {
		_ = cmd.Process.Kill()
		for range lines {
		}
	}
	var running []string
	over := time.After(within)
	for {
		select {
		case line, more := <-lines:
			if !more {
				if <-ended == nil {
					return outcome{}
				}
				return outcome{crashed, last(running)}
			}
			said := spoken.FindStringSubmatch(line)
			if said == nil {
				continue
			}
			running = slices.DeleteFunc(running, func(other string) bool { return other == said[2] })
			switch said[1] {
			case "--- FAIL:":
				kill()
				return outcome{failed, said[2]}
			case "=== RUN", "=== CONT":
				running = append(running, said[2])
			}
		case <-time.After(still):
			kill()
			return outcome{stands, last(running)}
		case <-over:
			kill()
			return outcome{stands, last(running)}
		}
	}
}

// last is the test that has begun last of those that run.
func last(running []string) string {
	if len(running) == 0 {
		return ""
	}
	return running[len(running)-1]
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
