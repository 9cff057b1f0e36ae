package embedded

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func TestSmoke(t *testing.T) {
	s := Run(t)
	conn, _, err := zk.Connect([]string{s.Addr()}, 5*time.Second, zk.WithLogger(quiet{}))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	data, stat, events, err := conn.GetW("/a")
	require.NoError(t, err)
	require.Equal(t, "x", string(data))
	t.Log(stat)
	require.NoError(t, conn.Delete("/a", -1))
	t.Log(<-events)
}

func BenchmarkCreateDelete(b *testing.B) {
	s := Run(b)
	conn, _, err := zk.Connect([]string{s.Addr()}, 5*time.Second, zk.WithLogger(quiet{}))
	require.NoError(b, err)
	defer conn.Close()
	for b.Loop() {
		if _, err := conn.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			b.Fatal(err)
		}
		if err := conn.Delete("/a", -1); err != nil {
			b.Fatal(err)
		}
	}
}
