package readme

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// openings has a call of Open with a ctx by name, and the rest of its line.
var openings = regexp.MustCompile(`\b(?:locks|gateway)\.Open\(([a-z]\w*),(.*)`)

// boundedElsewhere has the files whose callers give the ctx of Open its deadline.
var boundedElsewhere = map[string]string{
	"examples/zklock/connect.go": "--connect-timeout, and TestExitStatuses of tests/zklock",
}

// TestOpenHasADeadline: a program that copies a snippet, or an example, has an Open that ends. With a
// host that does not exist it would wait for ever otherwise. The ctx has a deadline further up in the
// file, or the line says that it needs one.
func TestOpenHasADeadline(t *testing.T) {
	seen, used := 0, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case entry.IsDir() && (name == "tests" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return fs.SkipDir
		case filepath.Ext(name) != ".md" && filepath.Ext(name) != ".go",
			strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(entry.Name(), "example"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, at := range openings.FindAllSubmatchIndex(text, -1) {
			seen++
			ctx, rest := string(text[at[2]:at[3]]), string(text[at[4]:at[5]])
			bounded := regexp.MustCompile(`\b` + ctx + `, \w+ :?= context\.WithTimeout\(`)
			switch {
			case bounded.Match(text[:at[0]]), strings.Contains(rest, "give "+ctx+" a deadline"):
			case boundedElsewhere[name] != "":
				used[name] = true
			default:
				t.Errorf("%s: Open(%s,%s: nothing gives %s a deadline", name, ctx, rest, ctx)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, seen, 25)
	for name, by := range boundedElsewhere {
		require.True(t, used[name], "%s opens nothing that only %s bounds: take it off the list", name, by)
	}
}
