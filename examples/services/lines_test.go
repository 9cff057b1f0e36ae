package services_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostLines bounds the lines of a program that deal with locking.
const mostLines = 10

// ours are the packages whose names and values make a line one that deals with locking.
const ours = "github.com/turnstile-locks/turnstile/"

// TestLinesThatDealWithLocking: a line of a program deals with locking when something on it is
// declared in a package of Turnstile's, or is a value of a type of its: a client, a lock, a lease,
// a token, a lock actor's notice. Imports are not counted; nor are lines that handle an error,
// unless they ask Turnstile what it means.
func TestLinesThatDealWithLocking(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(fset, name, nil, 0)
			require.NoError(t, err)
			parsed = append(parsed, file)
		}
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", compiled(t))}
	_, err = config.Check(ours+"examples/services", fset, parsed, info)
	require.NoError(t, err)

	lines := map[string]map[int]bool{}
	for _, file := range parsed {
		lines[fset.Position(file.Pos()).Filename] = map[int]bool{}
	}
	for _, idents := range []map[*ast.Ident]types.Object{info.Defs, info.Uses} {
		for ident, object := range idents {
			if object == nil || !dealsWithLocking(object) {
				continue
			}
			at := fset.Position(ident.Pos())
			lines[at.Filename][at.Line] = true
		}
	}
	programs := 0
	for name, counted := range lines {
		if name == "doc.go" {
			continue
		}
		programs++
		t.Logf("%s: %d lines deal with locking", name, len(counted))
		require.NotEmpty(t, counted, name)
		require.LessOrEqual(t, len(counted), mostLines, name)
	}
	require.Equal(t, 5, programs)
}

// dealsWithLocking reports whether an object is Turnstile's, and not of the programs themselves.
func dealsWithLocking(object types.Object) bool {
	if _, name := object.(*types.PkgName); name {
		return false // the import, or what stands before a dot: what comes behind it counts
	}
	isOurs := func(pkg *types.Package) bool {
		return pkg != nil && strings.HasPrefix(pkg.Path(), ours) && !strings.HasPrefix(pkg.Path(), ours+"examples/")
	}
	if isOurs(object.Pkg()) {
		return true
	}
	of := object.Type()
	if pointer, is := of.(*types.Pointer); is {
		of = pointer.Elem()
	}
	named, is := types.Unalias(of).(*types.Named)
	return is && isOurs(named.Obj().Pkg())
}

// compiled finds what the go command has compiled of the packages that the programs import.
func compiled(t *testing.T) importer.Lookup {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", ".").Output()
	require.NoError(t, err)
	exported := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exported[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		if exported[path] == "" {
			return nil, fmt.Errorf("%s is not compiled", path)
		}
		return os.Open(exported[path])
	}
}
