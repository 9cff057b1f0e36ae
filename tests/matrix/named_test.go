package matrix

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireTests fails when a test of that name is in none of some folders of this repository, given from its root with
// spaces between them, or when one of them has none of the tests. A name with slashes is a test and a subtest, whose name
// stands as a text in the same folder.
func requireTests(t *testing.T, folders string, names ...string) {
	t.Helper()
	idle := map[string]bool{}
	for _, folder := range strings.Fields(folders) {
		idle[folder] = true
	}
	for _, name := range names {
		function, sub, nested := strings.Cut(name, "/")
		found := false
		for _, folder := range strings.Fields(folders) {
			known := testsOf(t, folder)
			if !known.functions[function] {
				continue
			}
			found = true
			delete(idle, folder)
			if nested {
				require.Contains(t, known.texts, sub, "no such subtest of %s in %s", function, folder)
			}
		}
		require.True(t, found, "no test %s in %s", function, folders)
	}
	require.Empty(t, idle, "folders without a test of %v", names)
}

// inFolder are the test functions of a folder and the texts in its test files.
type inFolder struct{ functions, texts map[string]bool }

// named has the folders that were read: each is named many times.
var (
	readingTests sync.Mutex
	named        = map[string]inFolder{}
)

// testsOf gives the tests of a folder.
func testsOf(t *testing.T, folder string) inFolder {
	t.Helper()
	readingTests.Lock()
	defer readingTests.Unlock()
	if known, read := named[folder]; read {
		return known
	}
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no tests in %s", folder)
	all := inFolder{map[string]bool{}, map[string]bool{}}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				all.functions[n.Name.Name] = true
			case *ast.BasicLit:
				all.texts[strings.Trim(n.Value, "\"`")] = true
			}
			return true
		})
	}
	named[folder] = all
	return all
}
