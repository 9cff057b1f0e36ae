package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrief: failures are printed within a screen: the first with the beginning of its output, the
// number of failures without room, and no line for tests that pass.
func TestBrief(t *testing.T) {
	var printed strings.Builder
	tally := newTally(&printed)
	tally.screen = &screen{}
	tally.add(event{Action: "pass", Package: "good", Test: "TestGood"})
	tally.add(event{Action: "pass", Package: "good"})
	for i := range 50 {
		name := fmt.Sprintf("Test%d", i)
		for line := range 100 {
			tally.add(event{Action: "output", Package: "bad", Test: name, Output: fmt.Sprintf("    line %d of %d %s\n", line, i,
				strings.Repeat("x", 1000))})
		}
		tally.add(event{Action: "fail", Package: "bad", Test: name})
	}
	tally.add(event{Action: "fail", Package: "bad"})
	text := printed.String() + tally.summary()
	for _, want := range []string{"FAIL bad Test0\n    line 0 of 0 x", "    and 88 more lines\nFAIL bad Test1\n",
		"more failures\n1 passed, 50 failed, 0 skipped"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	lines := strings.Split(text, "\n")
	if len(lines) > 45 {
		t.Errorf("%d lines do not fit a screen:\n%s", len(lines), text)
	}
	for _, line := range lines {
		if len(line) > shownColumns+len("…") {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if strings.Contains(text, "good") {
		t.Errorf("a line for what passes:\n%s", text)
	}
}

// TestBriefLeavesOutWhatGoTestSays: the lines with which go test announces a test take no room, and a build that
// fails is shown.
func TestBriefLeavesOutWhatGoTestSays(t *testing.T) {
	var printed strings.Builder
	tally := newTally(&printed)
	tally.screen = &screen{}
	for _, line := range []string{"=== RUN   TestBad\n", "    a_test.go:7: wrong sum\n", "--- FAIL: TestBad (0.00s)\n"} {
		tally.add(event{Action: "output", Package: "a", Test: "TestBad", Output: line})
	}
	tally.add(event{Action: "fail", Package: "a", Test: "TestBad"})
	tally.add(event{Action: "build-output", ImportPath: "b [b.test]", Output: "b_test.go:3: cannot use x\n"})
	tally.add(event{Action: "fail", Package: "b", FailedBuild: "b [b.test]"})
	const want = "FAIL a TestBad\n    a_test.go:7: wrong sum\nFAIL b (0.0s)\nb_test.go:3: cannot use x\n"
	if printed.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", printed.String(), want)
	}
	if got, want := tally.summary(), "0 passed, 2 failed, 0 skipped"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
