package main

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
)

// outcome is the outcome of a test.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
	notRun  outcome = "did not run" // of a test that another run has
)

// outcomes has how each test of a suite ended, by its name.
type outcomes map[string]outcome

// count is the number of tests that ended so.
func (o outcomes) count(want outcome) int {
	n := 0
	for _, is := range o {
		if is == want {
			n++
		}
	}
	return n
}

// again takes over what a second run of some tests has brought: one that passes now has passed.
func (o outcomes) again(second outcomes) {
	for test, is := range second {
		if _, ran := o[test]; ran && is == passed {
			o[test] = passed
		}
	}
}

// fromGo reads what go test -json prints.
func fromGo(from io.Reader) (outcomes, error) {
	all := outcomes{}
	ends := map[string]outcome{"pass": passed, "fail": failed, "skip": skipped}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Test string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("go test -json: %q: %w", lines.Bytes(), err)
		}
		switch end, ended := ends[event.Action]; {
		case event.Test == "":
		case ended:
			all[event.Test] = end
		case all[event.Test] == "":
			all[event.Test] = failed // unless it ends
		}
	}
	return all, lines.Err()
}

// fromJUnit reads a report in the form that JUnit has made common. A test that is reported twice has failed if
// it has failed once.
func fromJUnit(path string) (outcomes, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type testCase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	}
	var report struct {
		Cases  []testCase `xml:"testcase"`
		Suites []struct {
			Cases []testCase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(content, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, suite := range report.Suites {
		report.Cases = append(report.Cases, suite.Cases...)
	}
	all := outcomes{}
	for _, c := range report.Cases {
		test, is := c.Class+"."+c.Name, passed
		switch {
		case c.Failure != nil || c.Error != nil:
			is = failed
		case c.Skipped != nil:
			is = skipped
		}
		if all[test] != failed {
			all[test] = is
		}
	}
	return all, nil
}
