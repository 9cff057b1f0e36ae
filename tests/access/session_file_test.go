package access

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The predecessor's session is closed over TLS, with the client's certificate and without its credential, by which
// nobody else may delete its nodes. A copy of its file stands for a restart here: the predecessor lives, and learns that
// it has lost its lock.
func TestRealSessionFileWithTLSAndACL(t *testing.T) {
	server := startSecured(t, rig.TLS{Demand: true})
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	opts := func(file string) []locks.Option {
		return []locks.Option{
			server.as(t, server.authority, "worker"), credential(alice),
			locks.WithACL(onlyMe...), locks.WithSessionFile(file),
		}
	}
	lost := scene.LockAt(t, scene.Open(t, server.SecureAddr(), opts(first)...), "/restart")
	content, err := os.ReadFile(first)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(second, content, 0o600))

	lease, err := scene.Open(t, server.SecureAddr(), opts(second)...).Mutex("/restart").TryLock(scene.Deadline(t))
	require.NoError(t, err)
	require.Greater(t, lease.Token(), lost.Token())
	<-lost.Context().Done()
	require.ErrorIs(t, context.Cause(lost.Context()), locks.ErrLost)
	scene.GiveBack(t, lease)
}
