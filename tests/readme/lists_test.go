package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// The lists of CONTRIBUTING.md for a new option and for a new event. That page names the tests of packages
// that find missing places. The tests here find the places that no package can see by itself.

// unset are the fields of messages.Acquire that no option or method of package locks sets.
var unset = map[string]string{
	"Timeout":  "the ctx of a call bounds it",
	"TellMore": "calls are told no more",
	"Beside":   "what its calls share sets it: Lease.Downgrade",
}

// TestANewOptionHasItsPlaces: every field of messages.Acquire is set by package locks, or a row says why not.
func TestANewOptionHasItsPlaces(t *testing.T) {
	set := setFields(t, "locks/*.go")
	require.NotEmpty(t, set)
	for _, field := range asks.Fields {
		_, excused := unset[field.Name]
		require.NotEqual(t, set[field.Name], excused, "messages.Acquire.%s has an option or a method, or a row here says why not", field.Name)
	}
}

// setFields are the fields of messages.Acquire that files set: in a literal, or of a variable or field called want.
func setFields(t *testing.T, files string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(files)))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if of, is := n.Type.(*ast.SelectorExpr); is && of.Sel.Name == "Acquire" {
					for _, e := range n.Elts {
						if pair, is := e.(*ast.KeyValueExpr); is {
							all[pair.Key.(*ast.Ident).Name] = true
						}
					}
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if field, is := to.(*ast.SelectorExpr); is && lastName(field.X) == "want" {
						all[field.Sel.Name] = true
					}
				}
			}
			return true
		})
	}
	return all
}

// lastName is the last name of a.b.c.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// ownEvents are the events that a lock actor makes itself, of commands and of its timers.
var ownEvents = []machine.Kind{machine.Begin, machine.Release, machine.Cancel, machine.Revoke, machine.WatchContention,
	machine.Check, machine.Timeout, machine.GraceOver, machine.Poll}

// TestANewEventHasItsPlaces: every event that the session tells a lock actor is told in a story of the coordinator, but
// for Closed, which comes when there is no coordinator any more.
func TestANewEventHasItsPlaces(t *testing.T) {
	told := map[string]bool{}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "actors/internal/coordinator/testdata"),
		func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			story, err := os.ReadFile(path)
			for line := range strings.Lines(string(story)) {
				if to, event, tells := strings.Cut(strings.TrimSpace(line), " hears "); tells && strings.HasPrefix(to, "r") {
					told[strings.Fields(event)[0]] = true
				}
			}
			return err
		}))
	own := map[machine.Kind]bool{machine.Closed: true}
	for _, k := range ownEvents {
		own[k] = true
	}
	for _, k := range machine.Kinds() {
		if !own[k] && !told[k.String()] {
			t.Errorf("no story of the coordinator tells a request %v", k)
		}
	}
}
