package carrier_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestContentionIsWatched: the answer of the read that begins the watch. The node is spent where a revoke request is on
// it already: no event tells of that any more.
func TestContentionIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, conn *zkconn.Conn, node string)
		want   coordinator.Contention
	}{
		"nobody has come": {func(*testing.T, *zkconn.Conn, string) {}, coordinator.Contention{Alone: true}},
		"somebody waits": {func(t *testing.T, conn *zkconn.Conn, _ string) {
			_, err := conn.CreatePlain("/a", queue.Style{}.Prefix("other"), nil)
			require.NoError(t, err)
		}, coordinator.Contention{}},
		"somebody has asked": {func(t *testing.T, conn *zkconn.Conn, node string) {
			data, _, err := conn.Get("/a/" + node)
			require.NoError(t, err)
			require.NoError(t, conn.SetData("/a/"+node, queue.Asked(data)))
		}, coordinator.Contention{Alone: true, Spent: true}},
		"Curator has asked": {func(t *testing.T, conn *zkconn.Conn, node string) {
			require.NoError(t, conn.SetData("/a/"+node, []byte(queue.CuratorRevokeRequest)))
		}, coordinator.Contention{Alone: true, Spent: true}},
		"the node is gone": {func(t *testing.T, conn *zkconn.Conn, node string) {
			require.NoError(t, conn.Delete("/a/"+node))
		}, coordinator.Contention{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, k, _ := sessions(t)
			_, _, create := asking(t, messages.Acquire{Path: "/a"}, 1)
			made := k.CarryOut(create).(*coordinator.Created)
			require.Zero(t, made.Failure)
			c.before(t, k.Conn, made.Node.Name)
			answer := k.CarryOut(&coordinator.WatchContention{Path: "/a", Node: made.Node.Name})
			require.Equal(t, &c.want, answer)
		})
	}
}
