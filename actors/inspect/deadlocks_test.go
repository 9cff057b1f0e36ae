package inspect

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestCirclesHaveToStay: what only one of two readings shows was perhaps never there as a whole.
func TestCirclesHaveToStay(t *testing.T) {
	node := func(name string, token messages.Token, holds bool) messages.Contender {
		return messages.Contender{Path: "/x", Node: name, Token: token, Holds: holds}
	}
	queue := func(all ...messages.Contender) queue.LockPath { return queue.LockPath{Contenders: all} }
	first := queue(node("a", 1, true), node("b", 2, false), node("c", 3, false), node("d", 4, false))
	second := queue(node("b", 2, true), node("c", 9, false), node("d", 4, false), node("e", 10, false))
	require.Equal(t, queue(node("b", 2, true), node("d", 4, false)), stayed(first, second))

	was, is := node("a", 1, true), node("a", 1, true)
	was.Who, is.Who = "A", "B"
	require.Equal(t, queue(node("a", 1, true)), stayed(queue(was), queue(is)), "it was passed on in between")
}

// TestUnusedNodesAreNoEdges: a circle is no deadlock when a node in it, one that keeps others out
// or one that waits, is known to be unused.
func TestUnusedNodesAreNoEdges(t *testing.T) {
	keeps := messages.Contender{Path: "/p", Node: "lock-0000000001", Session: 1}
	waits := messages.Contender{Path: "/q", Node: "lock-0000000002", Session: 2, Detects: true}
	found := messages.Deadlock{Members: []messages.Member{{Keeps: keeps, Waits: waits}}}
	for name, c := range map[string]struct {
		unused string
		left   bool
	}{"both are used": {"", true}, "one keeps out": {keeps.At(), false}, "one waits": {waits.At(), false}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.unused = func(node messages.Contender) bool { return node.At() == c.unused }
			d.Ask("me", &DeadlockProbe{Root: "/", Node: waits.At()}, d.hear)
			p := d.only(t)
			d.take(p, findings{sure: []messages.Deadlock{found}}, nil)
			probed := d.heard[0].(*DeadlockProbed)
			require.Equal(t, waits.At(), probed.Node)
			require.Equal(t, c.left, probed.Deadlock != nil)
		})
	}
}

// contend makes a contender's node for somebody, and gives its path.
func contend(t *testing.T, conn *zkconn.Conn, lockPath, who string) string {
	t.Helper()
	require.NoError(t, conn.EnsureParents(lockPath))
	data, err := json.Marshal(queue.Owner{Host: "h", Mode: messages.Exclusive.String(), Owner: who})
	require.NoError(t, err)
	made, err := conn.CreatePlain(lockPath, "lock-", data)
	require.NoError(t, err)
	return lockPath + "/" + made.Name
}

// TestSecondLookWaits: it is not begun before a holder that gives back has had time to delete its node,
// and not put off when the connection is closed.
func TestSecondLookWaits(t *testing.T) {
	conn := dial(t)
	held := contend(t, conn, "/x", "A")
	contend(t, conn, "/y", "B")
	contend(t, conn, "/y", "A")
	contend(t, conn, "/x", "B")
	begin := time.Now()
	all, err := Deadlocks(conn, "/")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Len(t, all[0].Members, 2)
	require.GreaterOrEqual(t, time.Since(begin), secondLook)

	found, err := findAmong(conn, "/", nil, false, func(_ *zkconn.Conn, d time.Duration) {
		require.Equal(t, secondLook, d)
		err := conn.Delete(held)
		require.NoError(t, err)
	})
	require.NoError(t, err)
	require.Empty(t, found.sure)

	contend(t, conn, "/z", "A")
	contend(t, conn, "/z", "B")
	ended := make(chan error, 1)
	go func() {
		_, err := findAmong(conn, "/", nil, false, func(conn *zkconn.Conn, _ time.Duration) {
			go conn.Close()
			rest(conn, time.Hour)
		})
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-time.After(patience):
		t.Fatal("it rests on a connection that has ended")
	}
	require.True(t, retriable(err), "%v", err)
}

// TestCallsHaveToStay: a circle is no deadlock when a member has got its lock since, or
// has passed its node on.
func TestCallsHaveToStay(t *testing.T) {
	node := "_c_x-lock-0000000001"
	holds := messages.Contender{Path: "/x", Node: node, ID: "h", Holds: true}
	waits := messages.Contender{Path: "/x", ID: "w", WaitsFor: []string{node}, Detects: true}
	moved := waits
	moved.WaitsFor = []string{"_c_y-lock-0000000002"}
	has := func(id string) messages.Contender { return messages.Contender{Path: "/x", Node: node, ID: id} }
	found := messages.Deadlock{Members: []messages.Member{{Keeps: holds, Waits: waits}}}
	for name, c := range map[string]struct {
		now  []messages.Contender
		left bool
	}{
		"nothing has changed":    {[]messages.Contender{has("h"), waits}, true},
		"another has the node":   {[]messages.Contender{has("other"), waits}, false},
		"it does not wait":       {[]messages.Contender{has("h")}, false},
		"it waits behind others": {[]messages.Contender{has("h"), has("other"), moved}, false},
		"all are gone":           {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.calls = c.now
			d.Ask("me", &DeadlockProbe{Root: "/", Node: "w"}, d.hear)
			p := d.only(t)
			d.take(p, findings{sure: []messages.Deadlock{found}}, nil)
			require.Equal(t, c.left, d.heard[0].(*DeadlockProbed).Deadlock != nil)
		})
	}
}

// TestOwnCallsAreAddedToWhatIsRead: the present owner of a node counts, and not its maker; and
// where somebody waits without a node there is something to read.
func TestOwnCallsAreAddedToWhatIsRead(t *testing.T) {
	behind := messages.Contender{Path: "/a/x", ID: "w", Who: "W", WaitsFor: []string{"n"}}
	own := calls{{Path: "/a/x", Node: "n", ID: "h", Who: "H"}, behind, {Path: "/b", Node: "m", ID: "o", Who: "O"}}
	require.Equal(t, []string{"/a/q", "/a/x"}, own.contested([]string{"/a/q"}))
	require.Equal(t, []string{"/a/x"}, own.contested([]string{"/a/x"}))
	read := []queue.LockPath{{Contenders: []messages.Contender{
		{Path: "/a/x", Node: "n", Who: "maker", Token: 7, Holds: true}, {Path: "/a/x", Node: "theirs", Who: "T"}}}}
	all := own.addTo(read)
	require.Equal(t, "maker", read[0].Contenders[0].Who, "what was read stays as it is")
	holder := messages.Contender{Path: "/a/x", Node: "n", Who: "H", ID: "h", Token: 7, Holds: true}
	require.Equal(t, holder, all[0].Contenders[0])
	require.Equal(t, "T", all[0].Contenders[1].Who)
	require.Equal(t, map[string][]messages.Contender{"n": {behind}}, all[0].Waiting)
}
