package matrix

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireTests fails when a folder of this repository, given from its root, lacks a test of that name. A name
// with slashes is a test and a subtest, whose name stands as a text in the same folder.
func requireTests(t *testing.T, folder string, names ...string) {
	t.Helper()
	functions, texts := testsOf(t, folder)
	for _, name := range names {
		function, sub, nested := strings.Cut(name, "/")
		require.Contains(t, functions, function, "no such test in %s", folder)
		if nested {
			require.Contains(t, texts, sub, "no such subtest of %s in %s", function, folder)
		}
	}
}

// testsOf gives the test functions of a folder and the texts in its test files.
func testsOf(t *testing.T, folder string) (functions, texts map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no tests in %s", folder)
	functions, texts = map[string]bool{}, map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions[n.Name.Name] = true
			case *ast.BasicLit:
				texts[strings.Trim(n.Value, "\"`")] = true
			}
			return true
		})
	}
	return functions, texts
}
