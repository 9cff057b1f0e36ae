package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	module = "github.com/turnstile-locks/turnstile/"
	// inAll begins the result of a change that only tests with servers find.
	inAll = "make test-all: "
	// patience is for the tests of one package. One that hangs has found the change.
	patience = "4m"
	// wholeRun bounds the tests that need servers, for one change.
	wholeRun = 15 * time.Minute
)

// suites are the packages with tests: which of the module's packages each imports, by itself or
// through others.
type suites struct {
	imports map[string][]string
	quick   []string // those of make test
}

// findSuites asks go list. The quick run has all packages but those of without.
func findSuites(without []string) (*suites, error) {
	list := func(args ...string) ([]string, error) {
		cmd := exec.Command("go", append([]string{"list"}, args...)...)
		cmd.Stderr = os.Stderr
		names, err := cmd.Output()
		return strings.Fields(string(names)), err
	}
	slow := []string{}
	if len(without) > 0 {
		var err error
		if slow, err = list(without...); err != nil {
			return nil, err
		}
	}
	// A line for each package with tests: its path, and all that these import.
	cmd := exec.Command("go", "list", "-test", "-f", `{{if .ForTest}}{{else}}{{if or .TestGoFiles .XTestGoFiles (eq .Name "main")}}{{.ImportPath}} {{join .Deps " "}}{{end}}{{end}}`, "./...")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	s := &suites{imports: map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || !strings.HasSuffix(fields[0], ".test") {
			continue
		}
		name := strings.TrimSuffix(fields[0], ".test")
		s.imports[name] = fields[1:]
		if !slices.Contains(slow, name) {
			s.quick = append(s.quick, name)
		}
	}
	slices.Sort(s.quick)
	return s, nil
}

// importing are those of some packages whose tests import what the change is in.
func (s *suites) importing(of []string, changed string) (all []string) {
	for _, name := range of {
		if name == changed || slices.Contains(s.imports[name], changed) {
			all = append(all, name)
		}
	}
	return all
}

// search tries a change, and says which test has found it. The tests that need servers are asked where
// the quick ones have missed it before.
func (s *suites) search(root string, c change, missedBefore bool) (string, error) {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	overlay, err := c.Overlay(root, folder)
	if err != nil {
		return "", err
	}
	changed := changedPackage(c.Mistake)
	if missedBefore {
		var slow []string
		for name := range s.imports {
			if strings.Contains(name, "/tests/") || !slices.Contains(s.quick, name) {
				slow = append(slow, name)
			}
		}
		slices.Sort(slow)
		found, err := goTest(overlay, wholeRun, []string{rig.RequireVariable + "=1"}, nil, s.importing(slow, changed))
		if found != "" {
			found = inAll + found
		}
		return orMissed(found), err
	}
	hermetic := []string{rig.HermeticVariable + "=1"}
	near := s.importing(slices.DeleteFunc(slices.Clone(s.quick), func(name string) bool { return name != changed }), changed)
	for _, packages := range [][]string{near, slices.DeleteFunc(s.importing(s.quick, changed), func(name string) bool { return name == changed })} {
		if found, err := goTest(overlay, time.Hour, hermetic, []string{rig.HermeticSkip}, packages); found != "" || err != nil {
			return found, err
		}
	}
	return missed, nil
}

func orMissed(found string) string {
	if found == "" {
		return missed + ", also by make test-all"
	}
	return found
}

// changedPackage is the import path of the package that a mistake is in.
func changedPackage(m mistakes.Mistake) string {
	if e := m.Edits[0]; e.Package != "" {
		return module + e.Package
	}
	return module + path.Dir(m.Edits[0].File)
}

// failure matches what go test says of a test or of a package that has failed.
var failure = regexp.MustCompile(`^\s*--- FAIL: (\S+)|^FAIL\t(\S+)|^panic: (.*)`)

// goTest runs the tests of packages with an overlay, until one fails. It gives the test, or the package
// where no test has failed; nothing where all have passed.
func goTest(overlay string, within time.Duration, env, flags, packages []string) (string, error) {
	if len(packages) == 0 {
		return "", nil
	}
	args := slices.Concat([]string{"test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", patience}, flags, packages)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that tests end with go test
	output, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(within, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	found := firstFailure(output)
	if found != "" {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case found != "":
		return found, nil
	case err == nil:
		return "", nil
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return "", nil // the bound: not found within it
	default:
		return "", fmt.Errorf("go test: %w: %s", err, complaints.String())
	}
}

func firstFailure(output io.Reader) string {
	test := ""
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		found := failure.FindStringSubmatch(lines.Text())
		switch {
		case found == nil:
		case found[2] != "": // comes last of a package
			return strings.TrimPrefix(strings.TrimSpace(found[2]+" "+test), module)
		case test == "":
			test = found[1] + found[3]
		}
	}
	return test
}
