package scene

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
)

// Fast reports whether a fast path is taken in this process, as the environment variable TURNSTILE_WITHOUT has it:
// `make paths` runs the tests once without each. The promises of locks do not depend on it; their costs do, and tests
// that assert costs ask here.
func Fast(t testing.TB, path string) bool {
	t.Helper()
	require.Contains(t, actors.FastPaths(), path)
	return !strings.Contains(os.Getenv("TURNSTILE_WITHOUT"), path)
}
