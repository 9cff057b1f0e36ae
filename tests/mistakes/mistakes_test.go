package mistakes

import (
	"go/format"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every mistake applies to the code as it is, and what comes of it is well-formed.
func TestEveryMistakeApplies(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range All() {
		require.False(t, seen[m.Name], "two mistakes are called %s", m.Name)
		seen[m.Name] = true
		changed, err := m.apply(root)
		require.NoError(t, err)
		require.NotEmpty(t, changed)
		for file, text := range changed {
			_, err := format.Source([]byte(text))
			require.NoError(t, err, "%s: %s", m.Name, file)
		}
		_, err = m.Overlay(root, t.TempDir())
		require.NoError(t, err)
	}
}

// A text that is not there, or more than once, is an error.
func TestAMistakeThatNoLongerAppliesIsAnError(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("package a // twice twice\n"), 0o600))
	for _, old := range []string{"twice", "never"} {
		m := Mistake{Name: "m", Edits: []Edit{{File: "a.go", Old: old, New: "x"}}}
		_, err := m.Overlay(root, t.TempDir())
		require.ErrorContains(t, err, "no longer applies")
	}
}

// The mistake of the soak's own applies, too.
func TestTheSoaksMistakeApplies(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	_, err = DoubtForgotten.Overlay(root, t.TempDir())
	require.NoError(t, err)
}
