//go:build linux || darwin

package sessionfile_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// A session that cannot be closed, of an ensemble that is gone, does not delay what is reclaimed of another: its time
// is running.
func TestReclaimableDoesNotWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		cfg, err := zkconn.NewConfig(server.Connect(), zkconn.WithSessionTimeout(4*time.Second),
			zkconn.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.HasPrefix(address, "gone:") {
					return nil, errors.New("not reached")
				}
				return server.DialContext(ctx, network, address)
			}))
		require.NoError(t, err)
		connected := make(chan struct{}, 1)
		died, err := zkconn.Dial(cfg, 1, func(e zkconn.Event) {
			if e.Kind == zkconn.Connected {
				connected <- struct{}{}
			}
		})
		require.NoError(t, err)
		<-connected
		left := sessionfile.Record{Session: died.SessionID(), Password: died.SessionPassword(), Timeout: 4 * time.Second,
			Connect: server.Connect(), Reclaim: true}
		_ = died.Abandon()
		other := record(7)
		other.Connect = "gone:2181"
		path := filepath.Join(t.TempDir(), "session")
		f := open(t, path)
		require.NoError(t, f.Write([]sessionfile.Record{other, left}))
		require.NoError(t, f.Close())

		begin := time.Now()
		s, err := sessionfile.Start(path, cfg)
		require.NoError(t, err)
		require.Equal(t, []int64{left.Session}, s.Reclaimable())
		require.Less(t, time.Since(begin), time.Second, "of 4 for which it is kept")
		s.Close(true)
	})
}
