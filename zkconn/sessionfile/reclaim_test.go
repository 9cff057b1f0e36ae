//go:build linux || darwin

package sessionfile_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// keptTimeout is the session timeout of the processes that have died.
const keptTimeout = 10 * time.Second

// died gives a session file as a process leaves it that held with reclaim keys, and dies.
func died(t *testing.T, connect string, id int64, password []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{
		{Session: id, Password: password, Timeout: keptTimeout, Connect: connect, Reclaim: true}}))
	require.NoError(t, f.Close())
	return path
}

// TestOneWaitForAll: no server answers, and several locks ask, at the same time and one after the other, what there is
// to reclaim: five seconds pass in all.
func TestOneWaitForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, err := zkconn.NewConfig("h:2181", zkconn.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		require.NoError(t, err)
		s, err := sessionfile.Start(died(t, "h:2181", 7, []byte("x")), cfg)
		require.NoError(t, err)
		time.Sleep(time.Minute) // it is not asked yet
		begun := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 3 {
					if kept := s.Reclaimable(); len(kept) > 0 {
						t.Error("kept:", kept)
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, 5*time.Second, time.Since(begun))
		s.Close(false)
	})
}

// TestRestartsDoNotProlong: a process dies and is started again, over and over, each for a second. The locks of
// the first process are kept for its session timeout after the first restart, and not for longer.
func TestRestartsDoNotProlong(t *testing.T) {
	for name, last := range map[string]bool{"restarted until it is over": false, "not restarted any more": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(500*time.Millisecond))
				cfg, err := zkconn.NewConfig(server.Connect(), zkconn.WithDialer(server.DialContext),
					zkconn.WithSessionTimeout(keptTimeout))
				require.NoError(t, err)
				id, password := lonely(t, server)
				path := died(t, server.Connect(), id, password)
				lives := func() bool { return slices.Contains(server.Sessions(), id) }
				begun := time.Now()
				for time.Since(begun) < keptTimeout-2*time.Second {
					s, err := sessionfile.Start(path, cfg)
					require.NoError(t, err)
					require.Equal(t, []int64{id}, s.Reclaimable(), "after %v", time.Since(begun))
					time.Sleep(time.Second)
					s.Close(false) // as when it dies: what is in the file stays there
					require.True(t, lives())
				}
				if !last {
					time.Sleep(time.Until(begun.Add(keptTimeout - 100*time.Millisecond)))
					require.True(t, lives())
					time.Sleep(100 * time.Millisecond)
					s, err := sessionfile.Start(path, cfg)
					require.NoError(t, err)
					require.Empty(t, s.Reclaimable())
					require.False(t, lives(), "it is closed")
					s.Close(false)
					return
				}
				time.Sleep(time.Until(begun.Add(keptTimeout + time.Second))) // a server rounds up to its tick
				require.False(t, lives(), "it has expired by itself")
			})
		})
	}
}

// lonely gives a session whose client has gone without a word: a handshake, and nothing more.
func lonely(t *testing.T, server *embedded.Server) (id int64, password []byte) {
	t.Helper()
	conn, err := server.DialContext(t.Context(), "tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	request := binary.BigEndian.AppendUint32(nil, 44) // what follows
	request = binary.BigEndian.AppendUint32(request, 0)
	request = binary.BigEndian.AppendUint64(request, 0)
	request = binary.BigEndian.AppendUint32(request, uint32(keptTimeout.Milliseconds()))
	request = binary.BigEndian.AppendUint64(request, 0)
	request = binary.BigEndian.AppendUint32(request, 16)
	_, err = conn.Write(append(request, make([]byte, 16)...))
	require.NoError(t, err)
	reply := make([]byte, 4+4+4+8+4+16)
	_, err = io.ReadFull(conn, reply)
	require.NoError(t, err)
	return int64(binary.BigEndian.Uint64(reply[12:])), reply[24:]
}
