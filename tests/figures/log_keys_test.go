package figures_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// TestRecords: what is logged of a request says which, in which state, in which session, and with which token. The loss of a
// connection, the expiry of a session and the loss of a lock are logged once each at the usual level. A lock that is taken and
// given back says nothing there, and there is nothing of dead letters: a lost lease is given back as any other, and nobody
// needs to know.
func TestRecords(t *testing.T) {
	w := newWorld(t)
	client := w.open(locks.WithLogger(slog.New(slog.NewJSONHandler(&w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	session := logkeys.SessionID(client.Session().ID()).String()
	mutex := client.Mutex("/orders/42")
	lease := w.lock(mutex)
	token := float64(lease.Token())
	w.unlock(lease)
	lease = w.lock(mutex)
	require.NoError(t, w.server.Expire(client.Session().ID()))
	scene.Receive(t, lease.Context().Done())
	for range 2 {
		require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
	}
	w.unlock(w.lock(mutex)) // in the next session
	require.Equal(t, 1, w.value("turnstile.session.interruptions", "expired"))
	require.Equal(t, 1, w.value("turnstile.session.count", "connected"))
	require.NoError(t, client.Close(scene.Deadline(t)))

	states, times := map[string]bool{}, map[string]int{}
	connected := false
	for _, r := range w.logs.records(t) {
		text := r["msg"].(string)
		switch text {
		case "lock":
			require.Equal(t, "DEBUG", r["level"])
			for _, key := range []string{logkeys.Path, logkeys.Node, logkeys.State, logkeys.Session, logkeys.Token, logkeys.From, logkeys.Event} {
				require.Contains(t, r, key)
			}
			require.Equal(t, "/orders/42", r[logkeys.Path])
			states[r[logkeys.State].(string)] = true
			if r[logkeys.State] == "releasing" && r[logkeys.Token] == token {
				states["the first"] = true
				require.Equal(t, session, r[logkeys.Session])
				require.Equal(t, string(messages.ReasonReleased), r[logkeys.Reason])
			}
		case "session expired":
			require.Equal(t, session, r[logkeys.Session])
			require.EqualValues(t, 1, r[logkeys.Epoch])
		case "session connected":
			connected = true
			require.Contains(t, r, logkeys.Server)
			require.EqualValues(t, scene.Session, r[logkeys.Timeout])
		}
		if of, is := r[logkeys.Session]; is {
			require.Regexp(t, "^0x[0-9a-f]+$", of, r)
		}
		require.False(t, r["level"] != "DEBUG" && strings.Contains(text, "DeadLetter"), r)
		for _, fact := range []string{"expired", "lost", "connect"} {
			if r["level"] == "WARN" && strings.Contains(text, fact) {
				times[fact]++
			}
		}
	}
	require.True(t, connected)
	for _, s := range []string{"creating", "held", "releasing", "released", "lost", "the first"} {
		require.True(t, states[s], s)
	}
	require.Equal(t, map[string]int{"expired": 1, "lost": 1, "connect": 1}, times, "connect: the session was disconnected")
}

// ownKeys are the files that log keys of their own: an actor, and why it stops.
var ownKeys = []string{"../../actors/activation/guard.go", "../../actors/term/serve.go"}

// TestKeysAreOfOnePlace reads the source: every key that is logged, but those of ownKeys, is a constant of package logkeys.
func TestKeysAreOfOnePlace(t *testing.T) {
	calls, panicked := 0, 0
	for _, folder := range []string{"actors", "locks", "messages", "zkconn"} {
		require.NoError(t, filepath.WalkDir("../../"+folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.Contains(ownKeys, name) {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is {
					return true
				}
				if first, logs := firstKey(call); logs {
					calls++
					if first == afterPanic {
						panicked++
					}
					for i := first; i < len(call.Args); i += 2 {
						require.True(t, isKey(call, i), "%v: argument %d is no key of package logkeys", set.Position(call.Pos()), i)
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, calls, 25, "the calls that log were not found")
	require.Greater(t, panicked, 5, "the calls that log panics were not found")
}

// afterPanic is the place of the first key among the arguments of mailbox.LogPanic.
const afterPanic = 3

// firstKey is the place of the first key among the arguments of a call that logs.
func firstKey(call *ast.CallExpr) (int, bool) {
	if f, is := call.Fun.(*ast.SelectorExpr); is {
		switch f.Sel.Name {
		case "LogPanic":
			return afterPanic, true
		case "logged":
			return 0, true
		case "loggedOf":
			return 1, true
		case "Debug", "Info", "Warn", "Error":
			return 1, aLogger(f.X)
		case "With":
			return 0, aLogger(f.X)
		}
	}
	return 0, false
}

// aLogger reports whether an expression is a logger, by its name.
func aLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "log" || x.Name == "logger"
	case *ast.SelectorExpr:
		return x.Sel.Name == "log" || x.Sel.Name == "logger" || x.Sel.Name == "to"
	}
	return false
}

// isKey reports whether an argument is a constant of package logkeys, or a list that another call has made.
func isKey(call *ast.CallExpr, i int) bool {
	if call.Ellipsis.IsValid() && i == len(call.Args)-1 {
		return true
	}
	selector, is := call.Args[i].(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := selector.X.(*ast.Ident)
	return is && from.Name == "logkeys"
}
