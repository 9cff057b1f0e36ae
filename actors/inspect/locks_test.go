package inspect

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

// dial connects to an embedded server of the test's own.
func dial(t *testing.T) *zkconn.Conn { return dialTo(t, embedded.Run(t)) }

func dialTo(t *testing.T, server *embedded.Server) *zkconn.Conn {
	t.Helper()
	cfg, err := zkconn.NewConfig(server.Addr())
	require.NoError(t, err)
	connected := make(chan struct{}, 1)
	conn, err := zkconn.Dial(cfg, 1, func(ev zkconn.Event) {
		if ev.Kind == zkconn.Connected {
			select {
			case connected <- struct{}{}:
			default: // it has connected again
			}
		}
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	select {
	case <-connected:
	case <-time.After(patience):
		t.Fatal("no session")
	}
	return conn
}

// TestWalkStopsAtItsBound: it says so, and finds the same locks every time.
func TestWalkStopsAtItsBound(t *testing.T) {
	conn := dial(t)
	for i := range 20 {
		path := fmt.Sprintf("/locks/%02d", i)
		require.NoError(t, conn.EnsureParents(path))
		_, err := conn.CreatePlain(path, "lock-", nil)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		most, found int
		truncated   bool
	}{{1000, 20, false}, {22, 20, false}, {21, 20, false}, {20, 19, true}, {5, 4, true}, {1, 0, true}} {
		for range 3 {
			w := walk{conn: conn, most: c.most}
			require.NoError(t, w.run("/locks"))
			require.Len(t, w.found, c.found, "most %d", c.most)
			require.Equal(t, c.truncated, w.truncated, "most %d", c.most)
			for _, l := range w.found {
				require.Less(t, l.path, fmt.Sprintf("/locks/%02d", c.found))
			}
		}
	}
}

func TestInParallelStopsAtTheFirstError(t *testing.T) {
	fault := errors.New("no more")
	done := make([]bool, 1000)
	require.NoError(t, inParallel(len(done), func(i int) error { done[i] = true; return nil }))
	for i, d := range done {
		require.True(t, d, i)
	}
	clear(done)
	require.Equal(t, fault, inParallel(len(done), func(i int) error {
		done[i] = true
		return fault
	}))
	for _, d := range done[atOnce:] {
		require.False(t, d)
	}
	require.NoError(t, inParallel(0, func(int) error { return fault }))
	require.PanicsWithValue(t, "oh", func() { _ = inParallel(3, func(int) error { panic("oh") }) })
}

// TestSessionsNodesAreTold: from those of containers, which servers show in the same field.
func TestSessionsNodesAreTold(t *testing.T) {
	conn := dial(t)
	require.NoError(t, conn.EnsureParents("/container/inside"))
	made, err := conn.CreatePlain("/container/inside", "x-", nil)
	require.NoError(t, err)
	for path, want := range map[string]bool{"/container": false, "/container/inside": false, "/container/inside/" + made.Name: true} {
		stat, exists, err := conn.Exists(path)
		require.NoError(t, err)
		require.True(t, exists)
		require.Equal(t, want, ephemeral(stat), "%s: %x", path, stat.EphemeralOwner)
	}
	require.False(t, ephemeral(zkconn.Stat{EphemeralOwner: -1 << 56}), "with a time to live")
}
