package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	module = "github.com/turnstile-locks/turnstile/"
	// inAll begins the result of a change that only tests with servers find.
	inAll = "make test-all: "
	// missedByFew is of a change about which the others have not been asked.
	missedByFew = "missed by the few"
	// unsure begins that of a change with which tests stood still or failed, and did not when run alone.
	unsure = "unsure: "
	// quiet is for how long a test may print nothing until it is asked alone whether it stands still.
	quiet = 5 * time.Minute
	// bound is for all tests of a package.
	bound = 10 * time.Minute
)

// first are the packages that find most in a second.
var first = []string{
	"actors/internal/coordinator", "actors/machine", "actors/internal/carrier", "zkconn/lease", "actors/internal/walk",
	"zkconn", "actors", "locks", "tests/kinds",
}

// suites are the packages with tests: which of the module's packages each imports, by itself or
// through others.
type suites struct {
	root    string
	imports map[string][]string
	quick   []string // those of make test
	few     bool     // only the changed package and those of first are asked
}

// findSuites asks go list. The quick run has all packages but those of without.
func findSuites(root string, without []string) (*suites, error) {
	list := func(args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{"list"}, args...)...)
		cmd.Stderr = os.Stderr
		names, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("go list: %w", err)
		}
		return string(names), nil
	}
	slow := ""
	if len(without) > 0 {
		var err error
		if slow, err = list(without...); err != nil {
			return nil, err
		}
	}
	// A line for each package with tests: its path, and all that these import.
	text, err := list("-test", "-f", `{{if .ForTest}}{{else}}{{if eq .Name "main"}}{{.ImportPath}} {{join .Deps " "}}{{end}}{{end}}`, "./...")
	if err != nil {
		return nil, err
	}
	s := &suites{root: root, imports: map[string][]string{}}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		name, tests := strings.CutSuffix(fields[0], ".test")
		if !tests {
			continue
		}
		name = strings.TrimPrefix(name, module)
		for _, imported := range fields[1:] {
			if ours, is := strings.CutPrefix(imported, module); is {
				s.imports[name] = append(s.imports[name], ours)
			}
		}
		if !slices.Contains(strings.Fields(slow), module+name) {
			s.quick = append(s.quick, name)
		}
	}
	return s, nil
}

// importing are those of some packages whose tests import what the change is in: itself, those of first,
// and the others, those that import least before those that import more.
func (s *suites) importing(of []string, changed string) (all []string) {
	for _, name := range of {
		if name == changed || slices.Contains(s.imports[name], changed) {
			all = append(all, name)
		}
	}
	order := func(name string) int {
		switch {
		case name == changed:
			return -1
		case slices.Contains(first, name):
			return len(s.imports[name])
		default:
			return 1000 + len(s.imports[name])
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return order(a) - order(b) })
	return all
}

// search tries a change, and says which test has found it. What is known of it says who have been asked before: the few, or
// all quick ones, so that it is the turn of those that need servers.
func (s *suites) search(c change, known string) (string, error) {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	overlay, err := c.Overlay(s.root, folder)
	if err != nil {
		return "", err
	}
	changed := changedPackage(c.Mistake)
	a := asked{suites: s, folder: folder, overlay: overlay, quiet: quiet, env: []string{rig.HermeticVariable + "=1"}, skip: rig.HermeticSkip}
	packages, servers := s.importing(s.quick, changed), known == missed
	if servers {
		a.env, a.skip = []string{rig.RequireVariable + "=1"}, "-skip=^$"
		packages = slices.DeleteFunc(s.importing(slices.Collect(maps.Keys(s.imports)), changed), func(name string) bool {
			return !strings.HasPrefix(name, "tests/") && slices.Contains(s.quick, name)
		})
	}
	if suite, test, is := strings.Cut(c.Test, " "); is && known == "" && slices.Contains(s.quick, suite) {
		if found, err := a.ask(suite, test); found != "" || err != nil {
			return found, err
		}
	}
	for _, name := range packages {
		few := name == changed || slices.Contains(first, name)
		if s.few && !few {
			return missedByFew, nil
		}
		if few && known == missedByFew {
			continue
		}
		found, err := a.ask(name, "")
		switch {
		case err != nil:
			return "", err
		case found != "" && servers:
			return inAll + found, nil
		case found != "":
			return found, nil
		}
	}
	switch {
	case a.unsure != "":
		return unsure + a.unsure, nil
	case servers:
		return missed + ", also by make test-all", nil
	}
	return missed, nil
}

// changedPackage is the package that a mistake is in.
func changedPackage(m mistakes.Mistake) string {
	if e := m.Edits[0]; e.Package != "" {
		return e.Package
	}
	return path.Dir(m.Edits[0].File)
}
