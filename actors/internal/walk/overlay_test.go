//go:build mistakes

package walk

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// mistakeInSource names the mistake that is in the source already, in a process that TestWalkFinds has started.
const mistakeInSource = "TURNSTILE_WALK_MISTAKE"

// TestWalkFinds is TestMistakesAreFound for mistakes in the coordinator's own rules. For each it runs itself with the
// changed source.
func TestWalkFinds(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	for _, c := range slices.Concat(inCoordinator, inTurns) {
		switch os.Getenv(mistakeInSource) {
		case c.name:
			find(t, c)
		case "":
			t.Run(c.name, func(t *testing.T) {
				overlay, err := c.inSource().Overlay(root, t.TempDir())
				require.NoError(t, err)
				test := exec.Command("go", "test", "-tags", "mistakes", "-count=1", "-v", "-overlay", overlay,
					"-run", "^TestWalkFinds$", ".")
				test.Env = append(os.Environ(), mistakeInSource+"="+c.name)
				said, err := test.CombinedOutput()
				t.Logf("%s", said)
				require.NoError(t, err)
				require.Contains(t, string(said), "invariant ")
			})
		}
	}
}
