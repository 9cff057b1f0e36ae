package walk

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/layers"
)

// TestLayers: each file uses only those before it in the list that the package doc ends with.
func TestLayers(t *testing.T) { layers.Check(t) }

// TestNobodyLinksAWalk: the walk is a test. The packages that users import or install do not link it, and there is
// nothing in it to link.
func TestNobodyLinksAWalk(t *testing.T) {
	const module = "github.com/turnstile-locks/turnstile/"
	list := func(args ...string) []string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	const walk = module + "actors/internal/walk"
	require.Equal(t, []string{"[doc.go]"}, list("-f", "{{.GoFiles}}", walk))

	linked := list("-deps", module+"locks/...", module+"actors", module+"actors/gateway/...", module+"actors/activation",
		module+"actors/actorstest", module+"actors/inspect", module+"messages", module+"zkconn", module+"zkconn/embedded",
		module+"examples/...")
	require.Contains(t, linked, module+"actors/internal/coordinator", "or else this test shows nothing")
	require.NotContains(t, linked, walk)
}
