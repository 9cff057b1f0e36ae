package matrix

import (
	"testing"

	"github.com/turnstile-locks/turnstile/actors"
	asked "github.com/turnstile-locks/turnstile/tests/patient"
)

// fast reports whether all of some fast paths are taken: see package patient.
func fast(t testing.TB, paths ...actors.FastPath) bool {
	t.Helper()
	for _, path := range paths {
		if !asked.Fast(t, path) {
			return false
		}
	}
	return true
}
