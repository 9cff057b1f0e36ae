package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readTests gives the name of a file of tests and those of its tests.
func readTests(t *testing.T, path string) (all []text) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	name := inRepository(t, path)
	all = append(all, text{name, "its name", strings.ReplaceAll(filepath.Base(path), "_", " ")})
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && tested.MatchString(f.Name.Name) {
			all = append(all, text{name, "the name " + f.Name.Name, apart(f.Name.Name)})
		}
	}
	return all
}

// tested are the names of the functions that go test runs.
var tested = regexp.MustCompile(`^(?:Test|Example|Benchmark|Fuzz)`)

// readStories gives the comments of the stories below a folder, and their names.
func readStories(t *testing.T, folder string) (all []text) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		story, err := os.ReadFile(path)
		name := inRepository(t, path)
		all = append(all, text{name, "its name", strings.ReplaceAll(filepath.Base(path), "_", " ")})
		for line := range strings.Lines(string(story)) {
			if strings.HasPrefix(line, "#") {
				all = append(all, text{name, "a comment", strings.TrimLeft(line, "# ")})
			}
		}
		return err
	}))
	return all
}

// said gives the text of a literal; "" for any other expression.
func said(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return s
}
