package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrief: failures are printed within a screen: the first with the beginning of its output, the
// number of failures without room, and no line for tests that pass, nor those with which go test announces a test. A build that
// fails is shown.
func TestBrief(t *testing.T) {
	var printed strings.Builder
	tally := newTally(&printed)
	tally.screen = &screen{}
	tally.add(event{Action: "pass", Package: "good", Test: "TestGood"})
	tally.add(event{Action: "pass", Package: "good"})
	tally.add(event{Action: "build-output", ImportPath: "b [b.test]", Output: "b_test.go:3: cannot use x\n"})
	tally.add(event{Action: "fail", Package: "b", FailedBuild: "b [b.test]"})
	for i := range 50 {
		name := fmt.Sprintf("Test%d", i)
		tally.add(event{Action: "output", Package: "bad", Test: name, Output: "=== RUN   TestBad\n"})
		for line := range 100 {
			tally.add(event{Action: "output", Package: "bad", Test: name, Output: fmt.Sprintf("    line %d of %d %s\n", line, i,
				strings.Repeat("x", 1000))})
		}
		tally.add(event{Action: "fail", Package: "bad", Test: name})
	}
	tally.add(event{Action: "fail", Package: "bad"})
	text := printed.String() + tally.summary()
	for _, want := range []string{"FAIL b (0.0s)\nb_test.go:3: cannot use x\nFAIL bad Test0\n    line 0 of 0 x", "    and 88 more lines\nFAIL bad Test1\n",
		"more failures\n1 passed, 51 failed, 0 skipped"} {
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
