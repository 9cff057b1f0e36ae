package mistakes

import (
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every mistake applies to the present code, and the result compiles. Those that need no whole suite are
// compiled together: by itself each would take a second.
func TestEveryMistakeApplies(t *testing.T) {
	seen := map[string]bool{}
	apply := func(t *testing.T, all ...Mistake) {
		root, err := Root()
		require.NoError(t, err)
		together := Mistake{Name: "together"}
		for _, m := range all {
			require.False(t, seen[m.Name], "two mistakes are called %s", m.Name)
			seen[m.Name] = true
			together.Edits = append(together.Edits, m.Edits...)
		}
		changed, err := together.apply(root)
		require.NoError(t, err)
		build := exec.Command("go", "build", "-overlay")
		overlay, err := together.Overlay(root, t.TempDir())
		require.NoError(t, err)
		build.Dir, build.Args = root, append(build.Args, overlay)
		for file, text := range changed {
			_, err := format.Source([]byte(text))
			require.NoError(t, err, file)
			build.Args = append(build.Args, "./"+path.Dir(file))
		}
		output, err := build.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	t.Run("own", func(t *testing.T) { apply(t, Own()...) })
	t.Run("real", func(t *testing.T) { // it takes minutes
		for _, m := range All() {
			t.Run(m.Name, func(t *testing.T) { apply(t, m) })
		}
	})
}

// A text that is not there, or more than once, is an error, in a file and in a package.
func TestAMistakeThatNoLongerAppliesIsAnError(t *testing.T) {
	root := folder(t, map[string]string{"p/a.go": "twice twice once", "p/b.go": "both", "p/c.go": "both"})
	for _, e := range []Edit{{File: "p/a.go", Old: "twice"}, {File: "p/a.go", Old: "never"}, {File: "p/d.go", Old: "once"},
		{Package: "p", Old: "twice"}, {Package: "p", Old: "never"}, {Package: "p", Old: "both"}, {Package: "q", Old: "once"}} {
		_, err := Mistake{Name: "m", Edits: []Edit{e}}.Overlay(root, t.TempDir())
		require.ErrorContains(t, err, "no longer applies", "%v", e)
	}
}

// An edit that names a package changes the file that has the text, and no test. One file may have several edits.
func TestEditsFindTheirFile(t *testing.T) {
	root := folder(t, map[string]string{"p/a.go": "one two", "p/b.go": "three", "p/a_test.go": "one"})
	m := Mistake{Edits: []Edit{{Package: "p", Old: "one", New: "1"}, {Package: "p", Old: "three", New: "3"},
		{File: "p/a.go", Old: "two", New: "2"}}}
	changed, err := m.apply(root)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"p/a.go": "1 2", "p/b.go": "3"}, changed)
}

// folder makes a folder with files.
func folder(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(root, path.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	return root
}
