package stories

import (
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// AwaitFault waits for a fault that comes before the answer of what it happens to. Without a channel of answers there
// is only the bound.
func AwaitFault[A any](t *testing.T, fault *rig.Fault, answers <-chan A) {
	t.Helper()
	select {
	case <-fault.Fired():
	case a := <-answers:
		t.Fatalf("answered without the fault: %v", a)
	case <-time.After(patient.Bound):
		t.Fatal("the fault never happens")
	}
}
