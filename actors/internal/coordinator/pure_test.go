package coordinator

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/layers"
)

// importable are the packages that this one may use: our pure ones, and packages of the standard
// library that are about data. None of them has side effects.
var importable = []string{
	"github.com/turnstile-locks/turnstile/messages", "github.com/turnstile-locks/turnstile/actors/machine",
	"github.com/turnstile-locks/turnstile/actors/queue", "github.com/turnstile-locks/turnstile/zkconn/outcome",
	"github.com/turnstile-locks/turnstile/zkconn/retry/hungup", // numbers; package retry draws random ones and reads the clock
	"bytes", "cmp", "encoding/binary", "encoding/hex", "errors", "fmt", "maps", "path", "slices", "strconv", "strings", "time",
}

// clockCalls are the functions of package time that are not about data.
var clockCalls = []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}

// parsed gives the files of this package, without its tests.
func parsed(t *testing.T) (*token.FileSet, []*ast.File) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	files := token.NewFileSet()
	var all []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(files, name, nil, 0)
			require.NoError(t, err)
			all = append(all, f)
		}
	}
	require.NotEmpty(t, all)
	return files, all
}

// checked gives this package with its types. A test that is compiled with -trimpath does not know where Go is: the go
// command does.
func checked(t *testing.T, files *token.FileSet, all []*ast.File) *types.Package {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	build.Default.GOROOT = strings.TrimSpace(string(root))
	conf := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	pkg, err := conf.Check("coordinator", files, all, nil)
	require.NoError(t, err)
	return pkg
}

// TestPure: the coordinator decides, and does nothing by itself. It has no goroutine, channel, lock or clock, and
// uses no package that has.
func TestPure(t *testing.T) {
	files, all := parsed(t)
	for _, f := range all {
		for _, imported := range f.Imports {
			name, err := strconv.Unquote(imported.Path.Value)
			require.NoError(t, err)
			require.Contains(t, importable, name, "%s", files.Position(imported.Pos()))
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if wrong := impure(n); wrong != "" {
				t.Errorf("%s: %s", files.Position(n.Pos()), wrong)
			}
			return true
		})
	}
}

// impure tells what is wrong with a piece of source.
func impure(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
		return "a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a channel"
		}
	case *ast.SelectorExpr:
		if of, ok := n.X.(*ast.Ident); ok && of.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
			return "a clock: time." + n.Sel.Name
		}
	}
	return ""
}

// TestStateIsData: everything that a coordinator keeps, is told and wants done can be copied, compared and
// printed. There is no function or channel in it, no interface but those of this package, and nothing is kept
// outside of it.
func TestStateIsData(t *testing.T) {
	files, all := parsed(t)
	pkg := checked(t, files, all)
	d := data{scope: pkg.Scope(), seen: map[string]bool{}}
	for _, root := range []string{"Coordinator", "Input", "Output", "At"} {
		require.Empty(t, d.wrong(d.scope.Lookup(root).Type()), root)
	}
	for _, must := range []string{"request", "lockPath", "transaction", "timer", "Commit", "Created"} {
		require.True(t, d.seen["coordinator."+must], "%s was not looked at", must)
	}
	for _, name := range d.scope.Names() {
		_, isVar := d.scope.Lookup(name).(*types.Var)
		require.False(t, isVar, "variable %s", name)
	}
}

// data looks at types, and at types that implement an interface.
type data struct {
	scope *types.Scope
	seen  map[string]bool
}

// wrong tells what in a type is no data; "" for nothing.
func (d data) wrong(of types.Type) string {
	name := of.String()
	if d.seen[name] || name == "time.Time" {
		return ""
	}
	d.seen[name] = true
	switch u := of.Underlying().(type) {
	case *types.Signature, *types.Chan:
		return name
	case *types.Interface:
		return d.implementations(name, u)
	case *types.Map:
		return d.wrong(u.Key()) + d.wrong(u.Elem())
	case *types.Struct:
		for field := range u.Fields() {
			wrong := d.wrong(field.Type())
			if wrong != "" && name+"."+field.Name() != "coordinator.Tell.Session" { // which is the shell's
				return field.Name() + ": " + wrong
			}
		}
	case interface{ Elem() types.Type }: // pointers, slices and arrays
		return d.wrong(u.Elem())
	}
	return ""
}

// implementations looks at those of an interface of this package.
func (d data) implementations(name string, of *types.Interface) string {
	if !strings.HasPrefix(name, "coordinator.") {
		return "anything: " + name
	}
	for _, name := range d.scope.Names() {
		t, isType := d.scope.Lookup(name).(*types.TypeName)
		if !isType || !types.Implements(types.NewPointer(t.Type()), of) || types.IsInterface(t.Type()) {
			continue
		}
		if wrong := d.wrong(t.Type()); wrong != "" {
			return name + ": " + wrong
		}
	}
	return ""
}

// TestLayers: each file uses only those before it in the list that the package doc ends with.
func TestLayers(t *testing.T) { layers.Check(t) }
