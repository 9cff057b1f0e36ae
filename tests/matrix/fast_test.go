package matrix

import (
	"testing"

	asked "github.com/turnstile-locks/turnstile/tests/patient"
)

// fast reports whether all of some fast paths are taken: see package patient.
func fast(t testing.TB, paths ...string) bool {
	t.Helper()
	for _, path := range paths {
		if !asked.Fast(t, path) {
			return false
		}
	}
	return true
}
