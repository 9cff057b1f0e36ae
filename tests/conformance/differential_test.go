package conformance

import (
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// operationsVariable says how many operations to compare, for a long run.
const operationsVariable = "TURNSTILE_CONFORMANCE_OPERATIONS"

const usualOperations = 20_000

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

// finding is what a property does not report at once: rapid would go on to shrink
// what it drew, and its draws are far more than the operations.
type finding struct {
	operations []operation
	difference *difference
	err        error
}

func (f *finding) any() bool { return f.difference != nil || f.err != nil }

// TestDifferential compares the subject with the reference.
func TestDifferential(t *testing.T) {
	compareRandomly(t, servers(t), wantedOperations(t))
}

// twinOperations is how many operations two real servers are compared with.
const twinOperations = 2_000

// TestTwoRealServers finds no difference, or something is masked too little.
func TestTwoRealServers(t *testing.T) {
	compareRandomly(t, pair{reference(t), twin(t)}, twinOperations)
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
			d, _, err := p.differ(operations)
			found = finding{operations, d, err}
		})
	}
	took := time.Since(began)
	t.Logf("compared %d operations in %v: %.0f a second", played, took.Round(time.Millisecond), float64(played)/took.Seconds())
	switch {
	case found.err != nil:
		t.Logf("the end of what the reference printed:\n%s", reference(t).Log())
		t.Fatalf("%v, during\n%s", found.err, render(found.operations))
	case found.difference != nil:
		least, d := minimize(p, found.operations, found.difference)
		t.Fatalf("the servers differ; the least sequence that shows it:\n\n%s\n%s", render(least), d)
	case played < wanted:
		t.Fatalf("only %d of %d operations were compared", played, wanted)
	}
}
