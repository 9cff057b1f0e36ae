// Package layers checks that a package can be read from bottom to top. Each of its files uses only those before it in a
// list, which its package doc has behind "The files are layers":
//
//	data   spec, state
//	rules  wait; apply
//
// A line begins with the name of a layer, or goes on with the one before. Files are named without their endings. All
// have to be in the list but doc.go. Those of tests only have to where the package has no others.
package layers

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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Check checks the package in whose folder a test runs.
func Check(t *testing.T) {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	order, err := listed(string(doc))
	require.NoError(t, err)
	files := goList(t, "-f", "{{range .GoFiles}}{{.}}\n{{end}}", ".")
	imports := goList(t, "-f", "{{range .Imports}}{{.}}\n{{end}}", ".")
	if slices.Equal(files, []string{"doc.go"}) {
		files = goList(t, "-f", "{{range .TestGoFiles}}{{.}}\n{{end}}", ".")
		imports = goList(t, "-f", "{{range .TestImports}}{{.}}\n{{end}}", ".")
	}
	require.Empty(t, wrong(order, files, goList(t, append([]string{"-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, imports...)...)))
}

// goList gives the lines that go list prints.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list %v", args)
	return strings.Fields(string(out))
}

// line is a line of the list. Its first word is the name of the layer, unless the line goes on with the one before.
var line = regexp.MustCompile(`^//\t(?:\S+  +| +)(\S.*)$`)

// listed gives the names in the list of a package doc.
func listed(doc string) (order []string, err error) {
	_, list, found := strings.Cut(doc, "// The files are layers.")
	if !found {
		return nil, fmt.Errorf("doc.go does not say which files are layers")
	}
	for text := range strings.Lines(list) {
		if names := line.FindStringSubmatch(strings.TrimRight(text, "\n")); names != nil {
			order = append(order, strings.FieldsFunc(names[1], func(r rune) bool { return strings.ContainsRune(",; ", r) })...)
		}
	}
	return order, nil
}

// wrong tells what is wrong with an order of files, of the folder in which it is called. exports are the packages that they
// import, each with the file of its exports.
func wrong(order, files, exports []string) (all []string) {
	set, used := token.NewFileSet(), types.Info{Uses: map[*ast.Ident]types.Object{}}
	var parsed []*ast.File
	layer := map[string]int{}
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return []string{err.Error()}
		}
		parsed = append(parsed, f)
		if layer[name] = slices.Index(order, named(name)); layer[name] < 0 && name != "doc.go" {
			all = append(all, name+" is not in the list")
		}
	}
	for i, name := range order {
		if !exists(name+".go") && !exists(name+"_test.go") {
			all = append(all, name+" is in the list, and there is no such file")
		}
		if slices.Index(order, name) < i {
			all = append(all, name+" is in the list twice")
		}
	}
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		for _, of := range exports {
			if name, file, _ := strings.Cut(of, "="); name == path {
				return os.Open(filepath.Clean(file))
			}
		}
		return nil, fmt.Errorf("%s is not imported", path)
	})
	pkg, err := (&types.Config{Importer: imports}).Check("checked", set, parsed, &used)
	if err != nil {
		return append(all, err.Error())
	}
	for at, what := range used.Uses {
		by, of := set.Position(at.Pos()), set.Position(what.Pos())
		if what.Pkg() == pkg && layer[by.Filename] < layer[of.Filename] {
			all = append(all, fmt.Sprintf("%s uses %s of %s, which is above it", by, at.Name, of.Filename))
		}
	}
	slices.Sort(all)
	return all
}

// named gives the name of a file in the list.
func named(file string) string { return strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test") }

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
