package walk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// edit replaces a text that occurs once in the coordinator.
type edit struct{ from, to string }

func rule(from, to string) edit { return edit{from, to} }

func edits(all ...edit) []edit { return all }

// inSource gives a mistake as a change of the coordinator's files. A text is sought in all of them: rules move.
func (c *seeded) inSource(t *testing.T, root string) mistakes.Mistake {
	const folder = "actors/internal/coordinator"
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	require.NoError(t, err)
	m := mistakes.Mistake{Name: c.name}
	for _, e := range c.source {
		var in []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), e.from) {
				in = append(in, folder+"/"+filepath.Base(name))
			}
		}
		require.Len(t, in, 1, "%s: %q", c.name, e.from)
		m.Edits = append(m.Edits, mistakes.Edit{File: in[0], Old: e.from, New: e.to})
	}
	return m
}
