package conformance

import "testing"

// TestRegressions is about sequences that once were, or could be, answered differently, a file for each subject. To add
// one, copy what a failed comparison prints, and have its answers recorded.
func TestRegressions(t *testing.T) {
	alone(undisturbed).each(t, func(t *testing.T, s server) {
		for _, file := range []string{"nodes", "errors", "paths", "acls", "multis", "watches", "sessions", "frames"} {
			t.Run(file, func(t *testing.T) { recorded(t, file, answerer(s)) })
		}
		t.Run("random", func(t *testing.T) { randomly(t, s) })
	})
}
