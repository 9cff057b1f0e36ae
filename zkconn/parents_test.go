package zkconn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestParentsAreRemoved: what was made goes again, the chroot too, and nothing else does.
func TestParentsAreRemoved(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(t *testing.T, conn *zkconn.Conn)
		stay      string // the lowest that does
	}{
		"all are empty":     {func(*testing.T, *zkconn.Conn) {}, ""},
		"our own data":      {func(t *testing.T, c *zkconn.Conn) { require.NoError(t, c.SetData("/a/b", []byte("ours"))) }, ""},
		"somebody's data":   {func(t *testing.T, c *zkconn.Conn) { require.NoError(t, c.SetData("/a/b", []byte("theirs"))) }, "/a/b"},
		"somebody's child":  {func(t *testing.T, c *zkconn.Conn) { require.NoError(t, c.EnsureParents("/a/c")) }, "/a"},
		"reaped by servers": {func(t *testing.T, c *zkconn.Conn) { require.NoError(t, c.Delete("/a/b")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := embedded.Run(t)
			conn, root := scene.Dial(t, server.Addr()+"/app"), scene.Dial(t, server.Addr())
			made, err := conn.MakeParents("/a/b", nil)
			require.NoError(t, err)
			tc.meanwhile(t, conn)
			made.Remove([]byte("ours"))
			_, exists, err := root.Exists("/app")
			require.NoError(t, err)
			require.Equal(t, tc.stay != "", exists)
			for _, path := range []string{"/a", "/a/b"} {
				_, exists, err := conn.Exists(path)
				require.NoError(t, err)
				require.Equal(t, len(path) <= len(tc.stay), exists, path)
			}
		})
	}
	t.Run("what was there", func(t *testing.T) {
		conn := scene.Dial(t, embedded.Run(t).Addr())
		require.NoError(t, conn.EnsureParents("/a"))
		made, err := conn.MakeParents("/a", nil)
		require.NoError(t, err)
		made.Remove(nil)
		zkconn.Parents{}.Remove(nil)
		_, exists, err := conn.Exists("/a")
		require.NoError(t, err)
		require.True(t, exists)
	})
}
