package mistakes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Why the re-lists of a session are not counted where it is opened.
const (
	listened  = "a process of its own: the test that starts it listens to its standard error"
	inPackage = "the tests of the package listen to the program's log"
	itself    = "it counts them for all of its sessions"
	refused   = "it is not opened"
	alone     = "no client waits for another one's node"
	measures  = "a measurement, and no test"
)

// uncounted has the files in which a function opens a session, and counts no re-lists itself.
var uncounted = map[string]string{
	"actors/activation/bench_test.go":      measures,
	"actors/actorstest/start.go":           "the tests that use it listen, or no client waits for another one's node",
	"actors/cycle_bench_test.go":           measures,
	"actors/gateway/example_test.go":       alone,
	"actors/gateway/example_tls_test.go":   alone,
	"actors/gateway/grain/example_test.go": alone,
	"actors/waiting_bench_test.go":         measures,
	"examples/actors/main.go":              listened,
	"examples/cluster/node.go":             listened,
	"examples/dashboard/demo/demo.go":      alone,
	"examples/dashboard/main.go":           alone,
	"examples/dashboard/settings_test.go":  alone,
	"examples/metrics/main.go":             alone,
	"examples/quickstart/main.go":          listened,
	"examples/scheduler/asynq/main.go":     listened,
	"examples/scheduler/main.go":           listened,
	"examples/scheduler/robfig/main.go":    listened,
	"examples/services/cron.go":            listened,
	"examples/services/programs_test.go":   listened,
	"examples/tlsfiles/tlsfiles_test.go":   alone,
	"examples/zklock/connect.go":           listened,
	"locks/client.go":                      "what all of these call",
	"locks/example_fencing_test.go":        inPackage,
	"locks/example_figures_test.go":        inPackage,
	"locks/example_inspect_test.go":        inPackage,
	"locks/example_lease_test.go":          inPackage,
	"locks/example_more_test.go":           inPackage,
	"locks/example_session_file_test.go":   inPackage,
	"locks/example_test.go":                inPackage,
	"locks/guides/example_pages_test.go":   inPackage,
	"locks/guides/example_sasl_test.go":    inPackage,
	"locks/guides/example_test.go":         inPackage,
	"locks/guides/testing_test.go":         inPackage,
	"tests/access/creators_test.go":        refused,
	"tests/access/refused_test.go":         refused,
	"tests/access/tls_test.go":             refused,
	"tests/bench/turnstile.go":             measures,
	"tests/cluster/member_test.go":         listened,
	"tests/crowd/process_test.go":          listened,
	"tests/gateway/child_test.go":          listened,
	"tests/kerberos/failures_test.go":      alone,
	"tests/kerberos/zookeeper_test.go":     alone,
	"tests/leases/kept_handles_test.go":    alone,
	"tests/readme/samples_test.go":         alone,
	"tests/restarts/process_test.go":       listened,
	"tests/simulation/world_test.go":       "its witness finds waiters that stand still",
	"tests/soak/client.go":                 itself,
	"tests/stalls/round_test.go":           itself,
}

// TestEverySessionIsCounted: a function that opens a session counts its re-lists, or it is said of its file why it does
// not.
func TestEverySessionIsCounted(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != root {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
		for _, declared := range parsed.Decls {
			f, is := declared.(*ast.FuncDecl)
			if !is || f.Body == nil || !opensUncounted(f) {
				continue
			}
			found[name] = true
			require.NotEmpty(t, uncounted[name], "%s: %s opens a session: scene.CountRelists, or say why not", name, f.Name.Name)
		}
		return nil
	}))
	for name := range uncounted {
		require.True(t, found[name], "%s counts the re-lists of all of its sessions", name)
	}
}

// counts are the names, in package scene, of what counts re-lists, or listens to what a process says of them.
var counts = map[string]bool{"CloseLater": true, "CountRelists": true, "NoRelists": true, "SaidRelists": true,
	"RightRelists": true, "Listen": true, "Listening": true, "ErrorOutput": true}

// opensUncounted reports whether a function opens a session that it keeps, and counts no re-lists.
func opensUncounted(f *ast.FuncDecl) bool {
	opened, dropped, counted := 0, 0, false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt: // _, err := locks.Open: it must fail
			first, is := n.Lhs[0].(*ast.Ident)
			if is && first.Name == "_" && len(n.Rhs) == 1 && isOpen(n.Rhs[0]) {
				dropped++
			}
		case *ast.CallExpr:
			if isOpen(n) {
				opened++
			}
		case *ast.SelectorExpr:
			of, is := n.X.(*ast.Ident)
			counted = counted || is && of.Name == "scene" && counts[n.Sel.Name] || n.Sel.Name == "Polls"
		case *ast.Ident: // in package scene
			counted = counted || n.Name == "CloseLater" || n.Name == "CountRelists"
		}
		return true
	})
	return opened > dropped && !counted
}

// isOpen reports whether an expression is a call that opens a session.
func isOpen(e ast.Expr) bool {
	call, is := e.(*ast.CallExpr)
	if !is {
		return false
	}
	name, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := name.X.(*ast.Ident)
	return is && (of.Name == "locks" && name.Sel.Name == "Open" || of.Name == "actors" && name.Sel.Name == "StartSession")
}
