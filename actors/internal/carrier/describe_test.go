package carrier

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/dial"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestDescribe: a node says what is so now, and keeps its place. A revoke request is never written over, also one that comes
// between the look and the write.
func TestDescribe(t *testing.T) {
	const path, place = "/a/node", 3
	spec := func(label string) *coordinator.Spec {
		return coordinator.NewSpec(&messages.Acquire{Path: "/a", Label: label}, "guid", "actor", true, time.Unix(0, 0))
	}
	said := ownerData(spec("before"), place)
	for name, c := range map[string]struct {
		before, meanwhile []byte
		want              coordinator.Described
		data              []byte
	}{
		"nobody asks": {data: ownerData(spec("now"), place)},
		"Turnstile has asked": {before: queue.Asked(said),
			want: coordinator.Described{Wanted: true}, data: queue.Asked(said)},
		"Curator has asked": {before: []byte(queue.CuratorRevokeRequest),
			want: coordinator.Described{Wanted: true}, data: []byte(queue.CuratorRevokeRequest)},
		"a stranger has written": {before: []byte("hello"), data: []byte("hello")},
		"somebody asks meanwhile": {meanwhile: queue.Asked(said),
			want: coordinator.Described{Failure: coordinator.Failure{Outcome: coordinator.Refused}}, data: queue.Asked(said)},
	} {
		t.Run(name, func(t *testing.T) {
			server := embedded.Run(t)
			conn, stranger := dial.Session(t, server.Addr()), dial.Session(t, server.Addr())
			require.NoError(t, conn.EnsureParents("/a"))
			_, err := conn.CreateNamed("/a", "node", said, "")
			require.NoError(t, err)
			if c.before != nil {
				require.NoError(t, stranger.SetData(path, c.before))
			}
			look, err := server.Inject(embedded.Fault{Session: conn.SessionID(), Op: embedded.OpGetData, Action: embedded.HoldReplies})
			require.NoError(t, err)
			described := make(chan any, 1)
			go func() {
				described <- Carrier{Conn: conn}.CarryOut(&coordinator.Describe{Spec: spec("now"), Path: path})
			}()
			require.NoError(t, look.Wait(t.Context()))
			if c.meanwhile != nil {
				require.NoError(t, stranger.SetData(path, c.meanwhile))
			}
			look.Release()
			got := (<-described).(*coordinator.Described)
			require.Equal(t, c.want.Wanted, got.Wanted)
			require.Equal(t, c.want.Failure.Outcome, got.Failure.Outcome)
			data, _, err := stranger.Get(path)
			require.NoError(t, err)
			require.Equal(t, string(c.data), string(data))
		})
	}
}
