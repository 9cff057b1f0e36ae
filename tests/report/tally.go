package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// event is a line of go test -json, as documented by go doc test2json.
type event struct {
	Action      string
	Package     string
	Test        string
	ImportPath  string // of output of a build
	Output      string
	Elapsed     float64
	FailedBuild string // the build that made the package fail
}

// test names a test; without a name, it stands for the package itself.
type test struct{ pkg, name string }

// tally counts outcomes and prints what deserves to be read. Several may read into it at once.
type tally struct {
	mu     sync.Mutex
	to     io.Writer
	output map[test][]string   // of tests that have not ended yet
	builds map[string][]string // output of builds, by import path
	counts map[string]counts   // by package
	screen *screen             // nil to print all of each failure, and a line for each package
}

// counts has the number of tests with each outcome.
type counts struct{ passed, failed, skipped int }

func (c counts) plus(other counts) counts {
	return counts{c.passed + other.passed, c.failed + other.failed, c.skipped + other.skipped}
}

func newTally(to io.Writer) *tally {
	return &tally{
		to:     to,
		output: map[test][]string{},
		builds: map[string][]string{},
		counts: map[string]counts{},
	}
}

// read takes events to their end. A line that is no event is printed unchanged.
func (t *tally) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			isEvent := json.Unmarshal(line, &e) == nil && e.Action != ""
			t.mu.Lock()
			if isEvent {
				t.add(e)
			} else {
				t.print(string(line))
			}
			t.mu.Unlock()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the events of go test: %w", err)
		}
	}
}

func (t *tally) add(e event) {
	key := test{e.Package, e.Test}
	switch e.Action {
	case "output":
		t.output[key] = append(t.output[key], e.Output)
	case "build-output":
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e)
		}
		delete(t.output, key)
	}
}

func (t *tally) endTest(e event) {
	output := t.output[test{e.Package, e.Test}]
	switch e.Action {
	case "pass":
		t.count(e.Package, counts{passed: 1})
	case "skip":
		t.count(e.Package, counts{skipped: 1})
		if t.screen == nil {
			t.print(fmt.Sprintf("SKIP %s %s\n", e.Package, e.Test))
			t.print(output...)
		}
	case "fail":
		t.count(e.Package, counts{failed: 1})
		t.failure(fmt.Sprintf("FAIL %s %s\n", e.Package, e.Test), output)
	}
}

func (t *tally) count(pkg string, more counts) { t.counts[pkg] = t.counts[pkg].plus(more) }

// endPackage prints a line for the package. "skip" means here that the package
// has no tests at all.
func (t *tally) endPackage(e event) {
	switch e.Action {
	case "pass":
		if t.screen == nil {
			t.print(fmt.Sprintf("ok   %s (%.1fs)\n", e.Package, e.Elapsed))
		}
	case "fail":
		output := slices.Concat(t.builds[e.FailedBuild], t.output[test{pkg: e.Package}])
		if t.counts[e.Package].failed == 0 {
			t.count(e.Package, counts{failed: 1})
		}
		// A test that was running when its package died has not ended.
		for key, lines := range t.output {
			if key.pkg == e.Package && key.name != "" {
				output = append(output, lines...)
			}
		}
		t.failure(fmt.Sprintf("FAIL %s (%.1fs)\n", e.Package, e.Elapsed), output)
	}
}

// failure prints a failure, or as much of it as its screen has room for.
func (t *tally) failure(head string, output []string) {
	if t.screen != nil {
		head, output = t.screen.room(head, output)
	}
	t.print(head)
	t.print(output...)
}

func (t *tally) print(lines ...string) {
	// A report that cannot be written has no other place to say so.
	_, _ = io.WriteString(t.to, strings.Join(lines, ""))
}

// total counts the tests of all packages.
func (t *tally) total() (all counts) {
	for _, c := range t.counts {
		all = all.plus(c)
	}
	return all
}

func (t *tally) summary() string {
	all := t.total()
	text := fmt.Sprintf("%d passed, %d failed, %d skipped", all.passed, all.failed, all.skipped)
	if t.screen != nil {
		text = t.screen.rest() + text
	}
	return text
}

// verdict is nil when the run was a success. goTest is the error of go test.
func (t *tally) verdict(noSkips bool, goTest error) error {
	all := t.total()
	switch {
	case all.failed > 0:
		return errors.New("there were failures")
	case goTest != nil:
		return fmt.Errorf("go test: %w", goTest)
	case all.passed == 0:
		return errors.New("no test has run")
	case noSkips && all.skipped > 0:
		return errors.New("tests were skipped, and none may be")
	}
	return nil
}
