package coordinator

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// TestPure: the coordinator decides, and does nothing by itself. It has no goroutine, channel, lock or clock, uses no package
// that has, and keeps nothing outside of its state. That the state is data, the stories' copies and prints of it show.
func TestPure(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	files := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		require.NoError(t, err)
		for _, imported := range f.Imports {
			name, err := strconv.Unquote(imported.Path.Value)
			require.NoError(t, err)
			require.Contains(t, importable, name, "%s", files.Position(imported.Pos()))
		}
		for _, d := range f.Decls {
			if d, is := d.(*ast.GenDecl); is && d.Tok == token.VAR {
				t.Errorf("%s: a variable", files.Position(d.Pos()))
			}
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

// TestLayers: each file uses only those before it in the list that the package doc ends with.
func TestLayers(t *testing.T) { layers.Check(t) }
