//go:build linux || darwin

package sessionfile_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// A successor that reaches no server leaves its predecessor's session in the file, and its own unless it has ended.
func TestSuccessorKeepsWhatItCannotClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{record(7)}))
	require.NoError(t, f.Close())
	cfg, err := zkconn.NewConfig("h:2181/app", zkconn.WithDialer(func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("not reached")
	}))
	require.NoError(t, err)

	own := sessionfile.Record{Session: 8, Password: []byte("mine"), Timeout: time.Second, Connect: "h:2181/app"}
	for ended, want := range map[bool][]sessionfile.Record{false: {record(7), own}, true: {record(7)}} {
		s, err := sessionfile.Start(path, cfg)
		require.NoError(t, err)
		_, err = sessionfile.Start(path, cfg)
		require.ErrorIs(t, err, sessionfile.ErrInUse)
		s.Stop() // so that Record does not wait
		s.Record(2, own.Session, own.Password, own.Timeout)
		s.Record(1, 9, own.Password, own.Timeout) // of an epoch that is over
		s.Close(ended)
		f := open(t, path)
		require.Equal(t, want, f.Left(), "ended: %v", ended)
		require.NoError(t, f.Write([]sessionfile.Record{record(7)}))
		require.NoError(t, f.Close())
	}
	_, err = sessionfile.Start(path, zkconn.Config{})
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
}

// A session without a file has a successor that is nil.
func TestNilSuccessorDoesNothing(t *testing.T) {
	var s *sessionfile.Successor
	s.Record(1, 7, []byte("x"), time.Second)
	s.Stop()
	s.Close(true)
}
