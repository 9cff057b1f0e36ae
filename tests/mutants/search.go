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
}

// findSuites asks go list: a line for each package with tests has its path, and all that these import.
func findSuites(root string, quick []string) (*suites, error) {
	cmd := exec.Command("go", "list", "-test", "-f", `{{if .ForTest}}{{else}}{{if eq .Name "main"}}{{.ImportPath}} {{join .Deps " "}}{{end}}{{end}}`, "./...")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	s := &suites{root: root, imports: map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		name, tests := strings.CutSuffix(fields[0], ".test")
		if !tests {
			continue
		}
		if slices.Contains(quick, name) {
			s.quick = append(s.quick, strings.TrimPrefix(name, module))
		}
		for _, imported := range fields[1:] {
			if ours, is := strings.CutPrefix(imported, module); is {
				s.imports[strings.TrimPrefix(name, module)] = append(s.imports[strings.TrimPrefix(name, module)], ours)
			}
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

// search tries a change, and says which test has found it. One that is known to be missed was asked of all quick ones: it is the
// turn of those that need servers.
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
	a := asked{suites: s, overlay: overlay, quiet: quiet, env: []string{rig.HermeticVariable + "=1"}, skip: rig.HermeticSkip}
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
