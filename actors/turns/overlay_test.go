//go:build mistakes

package turns

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// TestMistakesFind runs, for each mistake, the test that must find it.
func TestMistakesFind(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	for _, m := range inRules {
		t.Run(m.rule, func(t *testing.T) {
			overlay, err := m.inSource().Overlay(root, t.TempDir())
			require.NoError(t, err)
			said, err := exec.Command("go", "test", "-vet=off", "-count=1", "-timeout", "5m", "-overlay", overlay, "-run", "^"+m.by+"$", ".").CombinedOutput()
			require.Error(t, err, "nothing is found: %s", said)
			require.Contains(t, string(said), "--- FAIL: "+m.by, "%s", said)
		})
	}
}
