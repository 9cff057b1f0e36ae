package touches

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// A request of a session may be carried out after the session has moved to another server and has committed there:
// when the server that it has left goes on, with that request and with a later connect request that nobody waits for.
// The leader makes that server the session's owner as soon as it reads the connect request, and looks at the owner of
// a request only when that has come to the head of its queue. So nothing that the session reads after the move proves
// that its older requests never will be carried out. The server that it has moved to closes its connection at the next
// transaction, and at no sync before.
//
// Here the link from a follower to the leader stalls, with the requests of another session before the old one.
func TestRequestsOutliveAMove(t *testing.T) {
	t.Parallel()
	const attempts = 20 // the leader may have no backlog when it reads the connect request
	l := newLab(t, rig.WithMaxSessionTimeout(long))
	for attempt := range attempts {
		path := fmt.Sprintf("/old-%d", attempt)
		if l.outlivesAMove(path) {
			t.Logf("carried out in attempt %d", attempt+1)
			return
		}
	}
	require.Fail(t, "no old request was carried out")
}

// outlivesAMove reports whether a create was carried out after its session had moved.
func (l *lab) outlivesAMove(path string) bool {
	l.t.Helper()
	others := l.ask(l.follower.Addr(), transactions)
	left, hello := l.session(l.follower.Addr(), nil)
	defer left.Close()
	l.Link(l.follower, l.leader).Stall()
	defer l.Link(l.follower, l.leader).Heal()
	const backlog = 5000
	for range backlog {
		others.send(transactions)
	}
	_, err := left.Write(creation(path))
	require.NoError(l.t, err)
	time.Sleep(time.Second) // until the follower has read it: the connect request closes this connection

	again, err := net.Dial("tcp", l.follower.Addr())
	require.NoError(l.t, err)
	defer again.Close()
	_, err = again.Write(connectRequest(long, hello))
	require.NoError(l.t, err)
	time.Sleep(time.Second) // until the follower has read it

	moved, _ := l.session(l.other.Addr(), hello)
	defer moved.Close()
	require.Zero(l.t, l.transact(moved), "a transaction of the session that has moved")
	require.False(l.t, l.found(path))

	l.Link(l.follower, l.leader).Heal()
	before := others.requests()
	l.eventually("a later request of the follower is answered", func() bool { return len(others.all()) > before })
	if !l.found(path) {
		return false
	}
	_, err = moved.Write(append(slices.Clone(syncs), transactions...))
	require.NoError(l.t, err)
	_, err = readFrame(moved)
	require.NoError(l.t, err, "a sync does not tell of the move")
	_, err = readFrame(moved)
	require.Error(l.t, err, "the session has moved back: its connection is to be closed")
	return true
}

// session asks for a session, or goes on with one, until a server grants it.
func (l *lab) session(server string, before []byte) (conn net.Conn, hello []byte) {
	l.t.Helper()
	l.eventually("a session at "+server, func() bool {
		conn, hello = l.greet(server, long, before)
		return conn != nil
	})
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn, hello
}

// transact commits a transaction and gives the code of the answer.
func (l *lab) transact(conn net.Conn) int32 {
	l.t.Helper()
	_, err := conn.Write(transactions)
	require.NoError(l.t, err)
	body, err := readFrame(conn)
	require.NoError(l.t, err)
	return int32(binary.BigEndian.Uint32(body[12:]))
}

// found reports whether a node exists for the observer, once it has caught up with the leader.
func (l *lab) found(path string) bool {
	l.t.Helper()
	_, err := l.observer.Sync("/")
	require.NoError(l.t, err)
	found, _, err := l.observer.Exists(path)
	require.NoError(l.t, err)
	return found
}

// creation is the request for a node that stays.
func creation(path string) []byte {
	text := func(to []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32(to, uint32(len(s))), s...)
	}
	body := append(text(nil, path), 0, 0, 0, 0) // no data
	body = append(body, 0, 0, 0, 1, 0, 0, 0, 31)
	body = append(text(text(body, "world"), "anyone"), 0, 0, 0, 0)
	return request(1, 1, body...)
}
