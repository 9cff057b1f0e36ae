package mistakes

import (
	"go/format"
	"os/exec"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnMistakesApply: each applies to the present code, and all of them together compile: by itself each would take a
// second.
func TestOwnMistakesApply(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	all, seen, packages := Mistake{Name: "all"}, map[string]bool{}, []string{}
	for _, c := range own {
		require.False(t, seen[c.Name], "two mistakes are called %s", c.Name)
		seen[c.Name] = true
		all.Edits = append(all.Edits, c.Edits...)
		packages = append(packages, "./"+c.Edits[0].Package)
	}
	changed, err := all.apply(root)
	require.NoError(t, err)
	for file, text := range changed {
		_, err := format.Source([]byte(text))
		require.NoError(t, err, path.Base(file))
	}
	overlay, err := all.Overlay(root, t.TempDir())
	require.NoError(t, err)
	slices.Sort(packages)
	build := exec.Command("go", append([]string{"build", "-overlay", overlay}, slices.Compact(packages)...)...)
	build.Dir = root
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
