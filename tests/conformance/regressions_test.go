package conformance

import (
	"slices"
	"testing"
)

// regression is a sequence that once was, or could be, answered differently. To add one, copy what a
// failed comparison prints.
type regression struct{ name, operations string }

func TestRegressions(t *testing.T) {
	for _, r := range slices.Concat(nodeCases, errorCases, pathCases, aclCases, multiCases, watchCases, sessionCases, frameCases) {
		t.Run(r.name, func(t *testing.T) {
			operations, err := parseOperations(r.operations)
			if err != nil {
				t.Fatal(err)
			}
			d, answers, err := servers(t).differ(operations)
			if err != nil {
				t.Fatal(err)
			}
			if d != nil {
				t.Errorf("%s", d)
			}
			if d != nil || testing.Verbose() {
				t.Logf("the reference answered\n%s", answers)
			}
		})
	}
}
