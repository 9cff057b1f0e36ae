package carrier

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/dial"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sessions gives a session whose nodes are looked for, and another.
func sessions(t *testing.T) (*embedded.Server, Carrier, *zkconn.Conn) {
	t.Helper()
	server := embedded.Run(t)
	conn := dial.Session(t, server.Addr())
	require.NoError(t, conn.EnsureParents("/a"))
	return server, Carrier{Conn: conn}, dial.Session(t, server.Addr())
}

func specOf(guid string, mode messages.Mode, path string) *coordinator.Spec {
	return coordinator.NewSpec(&messages.Acquire{Path: path, Mode: mode}, guid, "actor", time.Unix(0, 0))
}

// TestFindOrphans: the nodes of the session with one of the GUIDs are found, and no others.
func TestFindOrphans(t *testing.T) {
	_, k, stranger := sessions(t)
	q := &coordinator.FindOrphans{Spec: specOf("one", messages.Exclusive, "/a"), GUIDs: []string{"one", "two"}}
	require.Equal(t, &coordinator.OrphansFound{}, k.CarryOut(q))
	var want []coordinator.FoundOrphan
	for _, n := range []struct {
		guid  string
		maker *zkconn.Conn
		found bool
	}{{"two", k.Conn, true}, {"one", stranger, false}, {"three", k.Conn, false}, {"one", k.Conn, true}, {"one", k.Conn, true}} {
		made, err := n.maker.CreatePlain("/a", q.Spec.Style.Prefix(n.guid), nil)
		require.NoError(t, err)
		if n.found {
			want = append(want, coordinator.FoundOrphan{Name: made.Name, GUID: n.guid, Czxid: made.Czxid})
		}
	}
	require.ElementsMatch(t, want, k.CarryOut(q).(*coordinator.OrphansFound).Nodes)
	q.Spec = specOf("one", messages.Exclusive, "/gone")
	require.Equal(t, &coordinator.OrphansFound{}, k.CarryOut(q))
}

// TestFindOrphansInAContest: the node is told by its session and the GUID in its data, or where those do not say whose it
// is by the session alone.
func TestFindOrphansInAContest(t *testing.T) {
	q := &coordinator.FindOrphans{Spec: specOf("one", messages.Contest, "/a/c"), GUIDs: []string{"one", "two"}}
	for name, c := range map[string]struct {
		guid      string
		elsewhere bool // another session has made it
		asked     bool // a revoke request has replaced the data
		found     string
	}{
		"one of them":            {guid: "two", found: "two"},
		"another request's":      {guid: "three"},
		"another session's":      {guid: "two", elsewhere: true},
		"nobody knows":           {guid: "three", asked: true, found: "one"},
		"another session's, too": {guid: "two", elsewhere: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, k, stranger := sessions(t)
			require.Equal(t, &coordinator.OrphansFound{}, k.CarryOut(q))
			maker := k.Conn
			if c.elsewhere {
				maker = stranger
			}
			guard := queue.GuardName("c", c.guid, 1)
			made, err := maker.CreateGuarded("/a", "c", guard, contestData(specOf(c.guid, messages.Contest, "/a/c"), 0, guard))
			require.NoError(t, err)
			if c.asked {
				guard = ""
				require.NoError(t, stranger.SetData("/a/c", []byte(queue.RevokeRequest)))
			}
			var want []coordinator.FoundOrphan
			if c.found != "" {
				want = []coordinator.FoundOrphan{{Name: "c", GUID: c.found, Guard: guard, Czxid: made.Czxid}}
			}
			require.Equal(t, want, k.CarryOut(q).(*coordinator.OrphansFound).Nodes)
		})
	}
}

// TestFindDeletesTheGuardThatIsLeft: somebody has deleted the node by itself. Where there is no guard either, no delete is
// sent: it might come late, and take the guard that a late create has made with its node.
func TestFindDeletesTheGuardThatIsLeft(t *testing.T) {
	server, k, _ := sessions(t)
	spec := specOf("one", messages.Contest, "/a/c")
	guard := queue.GuardName("c", "one", 1)
	made, err := k.Conn.CreateGuarded("/a", "c", guard, contestData(spec, 0, guard))
	require.NoError(t, err)
	q := &coordinator.Find{Spec: spec, GUID: "one", Guard: guard, Czxid: made.Czxid}
	exists := func() bool {
		_, exists, err := k.Conn.Exists("/a/" + guard)
		require.NoError(t, err)
		return exists
	}
	found := k.CarryOut(q).(*coordinator.Found)
	require.Equal(t, made.Czxid, found.One.Czxid)
	require.True(t, exists(), "its node is there")
	require.NoError(t, k.Conn.Delete("/a/c"))
	require.Equal(t, &coordinator.Found{}, k.CarryOut(q))
	require.False(t, exists())

	_, err = server.Inject(embedded.Fault{Op: embedded.OpDelete, Path: "/a/" + guard, Action: embedded.CutBefore})
	require.NoError(t, err)
	require.Equal(t, &coordinator.Found{}, k.CarryOut(q), "a delete would have met the fault")
}
