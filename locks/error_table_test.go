package locks

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// apart are the packages whose errors have no row, and why.
var apart = map[string]string{
	"gateway":     "it imports this package, and its errors are those of starting a gateway",
	"activation":  "actors that are activated get its error, and this package does not import it",
	"gssapi":      "Kerberos is linked only where it is used; Open wraps its errors in zkconn.ErrAuthFailed",
	"embedded":    "a server for tests",
	"gocronlocks": "a module of its own, for gocron: its errors are those that gocron is given",
}

// TestEveryErrorHasARow: every exported error variable of the module's packages has one row in
// errorTable, under any name, or its package stands apart. Every exported error type unwraps to an
// error that has a row.
func TestEveryErrorHasARow(t *testing.T) {
	all := readErrors(t)
	var rows []string
	for _, row := range all.rows {
		if !strings.HasPrefix(row, "context.") {
			rows = append(rows, all.origin(row))
		}
	}
	require.Equal(t, slices.Compact(slices.Sorted(slices.Values(rows))), slices.Sorted(slices.Values(rows)), "two rows")
	var declared []string
	for name := range all.values {
		pkg, _, _ := strings.Cut(name, ".")
		singletons := strings.HasPrefix(name, "actors.ErrSingleton") // causes of the end of their actors' contexts
		if apart[pkg] == "" && !singletons && all.origin(name) == name {
			declared = append(declared, name)
		}
	}
	require.ElementsMatch(t, declared, rows)
	require.Greater(t, len(declared), 40)
	require.GreaterOrEqual(t, len(all.types), 3)
	for name, unwraps := range all.types {
		require.True(t, unwraps, "%s has no Unwrap, so that nobody can say whether it may pass", name)
	}
}

// TestEveryReasonHasOneRow, and every row a word.
func TestEveryReasonHasOneRow(t *testing.T) {
	var reasons []messages.Reason
	for _, row := range errorTable {
		reasons = append(append(reasons, row.reasons...), row.rather...)
		require.NotEmpty(t, row.inOneWord(), row.err)
		if row.word != "" {
			require.Empty(t, slices.Concat(row.reasons, row.rather), "%v has the word of its reason", row.err)
			require.Regexp(t, "^[a-z]+(_[a-z]+)*$", row.word)
		}
		require.Equal(t, row.mayPass(), MayPass(fmt.Errorf("wrapped: %w", row.err)), row.err)
		require.Equal(t, len(row.reasons)+len(row.rather) > 0, row.passes == asReason, row.err)
		require.Equal(t, row.inOneWord(), errorType(row.err), "an earlier row matches: %v", row.err)
		for _, reason := range row.reasons {
			for _, usual := range []error{ErrFailed, ErrLost, context.Canceled} {
				require.Equal(t, row.err, sentinel(reason, usual), reason)
			}
		}
		for _, reason := range row.rather {
			require.Equal(t, ErrLost, sentinel(reason, ErrLost), reason)
		}
		for _, reason := range slices.Concat(row.reasons, row.rather) {
			require.Equal(t, row.mayPass(), reason.MayPass(), "%v, %v", row.err, reason)
		}
	}
	require.ElementsMatch(t, messages.Reasons(), reasons)
	require.False(t, MayPass(nil))
	require.False(t, MayPass(errors.New("somebody's")))
	require.False(t, MayPass(errors.Join(ErrLost, ErrClosed)), "lost because the client was closed")
	require.True(t, MayPass(sentinel(messages.ReasonGatewayFull, ErrFailed)))
	require.Equal(t, "_OTHER", errorType(errors.New("somebody's")))
}

// TestMayPassSaysWhatItDoes: its doc comment names the errors that may pass, and no other.
func TestMayPassSaysWhatItDoes(t *testing.T) {
	all := readErrors(t)
	_, list, _ := strings.Cut(all.mayPass, "May pass:")
	list, _, _ = strings.Cut(list, "Somebody else holds")
	var said, passing []string
	for _, name := range regexp.MustCompile(`(\w+\.)?(Err|Deadline)\w+`).FindAllString(list, -1) {
		said = append(said, all.origin(name))
	}
	for i, row := range errorTable {
		if row.mayPass() {
			passing = append(passing, all.origin(all.rows[i]))
		}
	}
	require.ElementsMatch(t, passing, said)
}

// sources has the errors that the module's source declares. Errors of this package have no package
// before their names.
type sources struct {
	values  map[string]string // of exported error variables; what they are copied from, or ""
	types   map[string]bool   // exported error types; whether they unwrap
	rows    []string          // of errorTable, in order
	mayPass string            // the doc comment
}

// origin is the name under which an error is declared first.
func (s *sources) origin(name string) string {
	for s.values[name] != "" {
		name = s.values[name]
	}
	return name
}

func readErrors(t *testing.T) *sources {
	t.Helper()
	s := &sources{values: map[string]string{}, types: map[string]bool{}}
	for _, root := range []string{"../messages", "../zkconn", "../actors", "../locks"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "internal" || entry.Name() == "testdata"):
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err == nil {
				s.read(file)
			}
			return err
		}))
	}
	require.Len(t, s.rows, len(errorTable))
	return s
}

// read notes the errors that a file declares.
func (s *sources) read(file *ast.File) {
	at := file.Name.Name + "."
	if file.Name.Name == "locks" {
		at = ""
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			s.method(at, d)
			if at == "" && d.Name.Name == "MayPass" {
				s.mayPass = d.Doc.Text()
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, is := spec.(*ast.ValueSpec)
				if !is || d.Tok != token.VAR || len(v.Values) == 0 {
					continue
				}
				if at == "" && v.Names[0].Name == "errorTable" {
					for _, row := range v.Values[0].(*ast.CompositeLit).Elts {
						s.rows = append(s.rows, nameOf(row.(*ast.CompositeLit).Elts[0]))
					}
				}
				for i, name := range v.Names {
					copied := nameOf(v.Values[i])
					if made := nameOf(callee(v.Values[i])); name.IsExported() &&
						(strings.HasPrefix(name.Name, "Err") || made == "errors.New" || made == "fmt.Errorf") {
						s.values[at+name.Name] = copied
					}
				}
			}
		}
	}
}

// method notes an Error or an Unwrap of an exported type.
func (s *sources) method(at string, d *ast.FuncDecl) {
	if d.Recv == nil || d.Name.Name != "Error" && d.Name.Name != "Unwrap" {
		return
	}
	of := d.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if name := nameOf(of); ast.IsExported(name) {
		s.types[at+name] = s.types[at+name] || d.Name.Name == "Unwrap"
	}
}

func callee(expr ast.Expr) ast.Expr {
	if call, is := expr.(*ast.CallExpr); is {
		return call.Fun
	}
	return nil
}

// nameOf gives the name that an expression is, with its package; "" where it is something else.
func nameOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if pkg, is := e.X.(*ast.Ident); is {
			return pkg.Name + "." + e.Sel.Name
		}
	}
	return ""
}
