//go:build mistakes

package lease_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// mistakeInSource names the mistake that is in the source already, in a process that TestLeaseWalkFinds has started.
const mistakeInSource = "TURNSTILE_LEASE_MISTAKE"

// TestLeaseWalkFinds is TestMistakesAreFound for mistakes in package lease. For each it runs itself with the changed
// source.
func TestLeaseWalkFinds(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	for _, c := range inSource {
		switch os.Getenv(mistakeInSource) {
		case c.name:
			find(t, c)
		case "":
			t.Run(c.name, func(t *testing.T) {
				m := c.mistake()
				overlay, err := m.Overlay(root, t.TempDir())
				require.NoError(t, err)
				test := exec.Command("go", "test", "-tags", "mistakes", "-count=1", "-v", "-overlay", overlay,
					"-run", "^TestLeaseWalkFinds$", ".")
				test.Env = append(os.Environ(), mistakeInSource+"="+c.name)
				said, err := test.CombinedOutput()
				t.Logf("%s", said)
				require.NoError(t, err)
				require.Contains(t, string(said), "the lease is valid beside a removed session")
			})
		}
	}
}
