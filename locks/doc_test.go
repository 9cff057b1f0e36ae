package locks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files parses the package's own files.
func files(t *testing.T) (all []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			require.NoError(t, err)
			all = append(all, file)
		}
	}
	return all
}

// exported gives the names that the package exports, but for methods and fields.
func exported(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// TestIndexIsComplete: the package doc has every exported name, as a link, by what it is for. Options may stand in the
// doc of their type instead. The errors are one list.
func TestIndexIsComplete(t *testing.T) {
	index, names := "", 0
	for _, file := range files(t) {
		if file.Doc != nil && strings.Contains(file.Doc.Text(), "# What is here") {
			_, list, _ := strings.Cut(file.Doc.Text(), "# What is here")
			list, _, _ = strings.Cut(list, "\n# ")
			index += list
		}
		for _, decl := range file.Decls {
			d, is := decl.(*ast.GenDecl)
			if is && d.Tok == token.TYPE && strings.HasSuffix(d.Specs[0].(*ast.TypeSpec).Name.Name, "Option") {
				index += d.Doc.Text()
			}
		}
	}
	require.NotEmpty(t, index)
	for _, file := range files(t) {
		for _, name := range exported(file) {
			if ast.IsExported(name) && !strings.HasPrefix(name, "Err") {
				names++
				require.Contains(t, index, "["+name+"]", "neither the package doc says what it is for, nor that of its type")
			}
		}
	}
	require.Greater(t, names, 80)
}

// TestEveryOptionSaysWhenToUseIt: what an option does is not enough to know whether one needs it.
func TestEveryOptionSaysWhenToUseIt(t *testing.T) {
	options := 0
	for _, file := range files(t) {
		for _, decl := range file.Decls {
			d, is := decl.(*ast.FuncDecl)
			if is && d.Recv == nil && strings.HasPrefix(d.Name.Name, "With") {
				options++
				require.Contains(t, strings.ReplaceAll(d.Doc.Text(), "\n", " "), "Use it ", d.Name.Name)
			}
		}
	}
	require.Greater(t, options, 30)
}
