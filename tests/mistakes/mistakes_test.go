package mistakes

import (
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every mistake that whole suites find applies to the present code, and the result compiles.
func TestRealEveryMistakeApplies(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range All() {
		require.False(t, seen[m.Name], "two mistakes are called %s", m.Name)
		seen[m.Name] = true
		changed, err := m.apply(root)
		if !assert.NoError(t, err) {
			continue
		}
		var packages []string
		for file, text := range changed {
			_, err := format.Source([]byte(text))
			require.NoError(t, err, "%s: %s", m.Name, file)
			packages = append(packages, "./"+path.Dir(file))
		}
		overlay, err := m.Overlay(root, t.TempDir())
		require.NoError(t, err)
		slices.Sort(packages)
		build := exec.Command("go", append([]string{"build", "-overlay", overlay}, slices.Compact(packages)...)...)
		build.Dir = root
		output, err := build.CombinedOutput()
		require.NoError(t, err, "%s: %s", m.Name, output)
	}
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
