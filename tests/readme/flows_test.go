package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is a file and functions in it, as a page writes them: `lock_actor.go: lock.begin`, or with
// one function after the other, `lock_actor.go: lock.hear → lock.step`.
var step = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.go): ([A-Za-z_][A-Za-z0-9_.]*(?: → [A-Za-z_][A-Za-z0-9_.]*)*)`")

// TestFlows: the files and functions of flows exist. A page names a method with its type, or a function by its name alone,
// where the file has one of that name.
func TestFlows(t *testing.T) {
	steps := 0
	for _, p := range readPages(t, root) {
		for _, found := range step.FindAllStringSubmatch(p.prose, -1) {
			file := p.at(found[1])
			for function := range strings.SplitSeq(found[2], " → ") {
				steps++
				if !declared(t, file)[function] {
					t.Errorf("%s: %s has no %s%s", p.name, found[1], function, whereElse(t, file, function))
				}
			}
		}
		for _, span := range arrow.FindAllString(p.prose, -1) {
			if !step.MatchString(span) {
				t.Errorf("%s: %s is no file with functions", p.name, span)
			}
		}
	}
	require.Greater(t, steps, 180, "the flows were not found")
}

// arrow is a piece of code that goes on from one function to another.
var arrow = regexp.MustCompile("`[^`]*\\.go: [^`]* → [^`]*`")

// declared gives the functions of a file, each by its name and with its type, too. It is empty
// where the file does not exist.
func declared(t *testing.T, file string) map[string]bool {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	all := map[string]bool{}
	for _, decl := range parsed.Decls {
		f, is := decl.(*ast.FuncDecl)
		if !is {
			continue
		}
		all[f.Name.Name] = true
		if f.Recv != nil {
			all[receiver(f.Recv.List[0].Type)+"."+f.Name.Name] = true
		}
	}
	return all
}

// receiver is the name of a receiver's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// whereElse says which files of the same folder have the function, for the case that it was moved.
func whereElse(t *testing.T, file, function string) string {
	t.Helper()
	var there []string
	files, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	require.NoError(t, err)
	for _, other := range files {
		if !strings.HasSuffix(other, "_test.go") && declared(t, other)[function] {
			there = append(there, filepath.Base(other))
		}
	}
	if there == nil {
		return ", and no file beside it"
	}
	return ": it is in " + strings.Join(there, ", ")
}
