package logkeys_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// TestKeysStay: filters and alerts rely on these words. A key that is added is added here; one that is here stays.
func TestKeysStay(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "logkeys.go", nil, 0)
	require.NoError(t, err)
	keys := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		keys[spec.Names[0].Name] = text
		return true
	})
	require.Equal(t, map[string]string{"Path": "path", "Node": "node", "State": "state", "From": "from", "Event": "event",
		"Reason": "reason", "Token": "token", "Session": "session", "Epoch": "epoch", "Server": "server", "Timeout": "timeout",
		"Error": "error", "Effect": "effect", "Tries": "tries", "Existed": "existed", "Took": "took", "Wait": "wait", "Panic": "panic",
		"Stack": "stack", "Text": "text", "FastPaths": "fast_paths"}, keys)
}

// TestSessionID: as ZooKeeper writes it, in all formats of records.
func TestSessionID(t *testing.T) {
	var out bytes.Buffer
	for id, want := range map[logkeys.SessionID]string{0: "0x0", 0x1000abcd: "0x1000abcd", -1: "0xffffffffffffffff"} {
		require.Equal(t, want, id.String())
		out.Reset()
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", logkeys.Session, id)
		require.Contains(t, out.String(), `"session":"`+want+`"`)
	}
}
