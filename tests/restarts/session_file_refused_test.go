package restarts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A file that breaks a rule is refused before anything is sent; what somebody else has in it stays.
func TestSessionFileIsRefused(t *testing.T) {
	never := locks.WithDialer(func(context.Context, string, string) (net.Conn, error) {
		t.Error("somebody was called")
		return nil, errors.New("nobody is here")
	})
	refused := func(path, rule string) {
		t.Helper()
		_, err := locks.Open(patient.Deadline(t), "nobody:2181", locks.WithSessionFile(path), never)
		require.ErrorIs(t, err, zkconn.ErrBadConfig)
		require.ErrorContains(t, err, rule)
		require.ErrorContains(t, err, path)
	}
	refused("", "must not be empty")
	path := sessionFile(t)
	require.NoError(t, os.WriteFile(path, []byte("somebody's letter"), 0o600))
	refused(path, "holds something else")
	require.Equal(t, "somebody's letter", readFile(t, path))
	require.NoError(t, os.Chmod(path, 0o640))
	refused(path, "mode 0640")
	link := sessionFile(t)
	require.NoError(t, os.Symlink(path, link))
	refused(link, "symbolic link")
	refused(path+"/in/no/folder", "not a directory")
}

// A damaged file is reported, and used.
func TestDamagedSessionFileIsUsed(t *testing.T) {
	server := embedded.Run(t)
	path := sessionFile(t)
	require.NoError(t, os.WriteFile(path, make([]byte, 200), 0o600))
	log, logger := stories.NewLog()
	client := patient.Open(t, server.Addr(), locks.WithSessionFile(path), logger)
	log.Await(t, "session file passed over")
	require.Contains(t, readFile(t, path), fmt.Sprintf("%#x", client.Session().ID()))
}
