package conformance

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// operationsVariable says how many operations to compare, for a long run.
const operationsVariable = "TURNSTILE_CONFORMANCE_OPERATIONS"

const usualOperations = 12_000

func wantedOperations(t *testing.T) int {
	value, ok := os.LookupEnv(operationsVariable)
	if !ok {
		return usualOperations
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("%s: %v", operationsVariable, err)
	}
	return n
}

// finding is a failure that a property does not report at once: rapid would go on to shrink
// what it drew, and its draws are far more than the operations.
type finding struct {
	operations []operation
	difference *difference
	err        error
}

func (f *finding) any() bool { return f.difference != nil || f.err != nil }

// leg is the number of operations that one pair of servers takes. A real one keeps some of its
// history, and with the small heap that the tests give it, it ends after several hundred
// thousand.
const leg = 200_000

// TestRealDifferential compares the subject with the reference, in sequences that are not recorded.
func TestRealDifferential(t *testing.T) {
	for wanted := wantedOperations(t); wanted > 0 && !t.Failed(); wanted -= leg {
		t.Run(fmt.Sprintf("%d to go", wanted), func(t *testing.T) {
			fresh := pair{startReal(t, undisturbed), startSubject(t, undisturbed)}
			compareRandomly(t, fresh, min(wanted, leg))
		})
	}
}

func compareRandomly(t *testing.T, p pair, wanted int) {
	t.Helper()
	began, played := time.Now(), 0
	var found finding
	for played < wanted && !found.any() {
		rapid.Check(t, func(rt *rapid.T) {
			if found.any() || played >= wanted {
				return
			}
			operations := sequences.Draw(rt, "operations")
			for _, o := range operations {
				played += o.count()
			}
			d, err := p.differ(operations)
			found = finding{operations, d, err}
		})
	}
	took := time.Since(began)
	t.Logf("compared %d operations in %v: %.0f a second", played, took.Round(time.Millisecond), float64(played)/took.Seconds())
	switch {
	case found.err != nil:
		if printed, ok := p.reference.(interface{ Log() string }); ok {
			t.Logf("the end of what the reference printed:\n%s", printed.Log())
		}
		t.Fatalf("%v, during\n%s", found.err, render(found.operations))
	case found.difference != nil:
		least, d := minimize(p, found.operations, found.difference)
		t.Fatalf("the servers differ; the least sequence that shows it:\n\n%s\n%s", render(least), d)
	case played < wanted:
		t.Fatalf("only %d of %d operations were compared", played, wanted)
	}
}
