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

// TestNobodyLinksAWalk: the walks are tests. The packages that users import or install link neither of them, and there
// is nothing in them to link.
func TestNobodyLinksAWalk(t *testing.T) {
	const module = "github.com/turnstile-locks/turnstile/"
	list := func(args ...string) []string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	walks := []string{module + "actors/internal/walk", module + "zkconn/internal/leasewalk"}
	require.Equal(t, []string{"[doc.go]", "[doc.go]"}, list(append([]string{"-f", "{{.GoFiles}}"}, walks...)...))

	linked := list("-deps", module+"locks/...", module+"actors", module+"actors/gateway/...", module+"actors/activation",
		module+"actors/actorstest", module+"actors/inspect", module+"messages", module+"zkconn", module+"zkconn/embedded",
		module+"examples/...")
	require.Contains(t, linked, module+"actors/internal/coordinator", "or else this test shows nothing")
	for _, walk := range walks {
		require.NotContains(t, linked, walk)
	}
}
