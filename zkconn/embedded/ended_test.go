package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sessionExpired is the code of a session that is over.
const sessionExpired = int32(-112)

// A follower's client whose session was ended elsewhere keeps its connection. Its reads, pings and syncs are
// answered; its writes are refused, and the refusals take transaction ids.
func TestEndedElsewhere(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	c, witness := openRaw(t, s, followers(s)[0], time.Minute), openRaw(t, s, followers(s)[1], time.Minute)
	c.create("/e", ephemeral)
	witness.create("/p", plain)
	require.NoError(t, s.EndElsewhere(c.session))
	require.False(t, witness.exists("/e"))
	require.Len(t, s.Sessions(), 1)

	zxid := witness.call(embedded.OpExists, "/", false).must().zxid
	for _, refused := range []reply{
		c.call(embedded.OpCreate, createOf("/a", plain)),
		c.call(embedded.OpCreate, createOf("/a", ephemeral)),
		c.call(embedded.OpCreate, createOf("no path", plain)),
		c.call(embedded.OpDelete, "/p", anyVersion),
		c.call(embedded.OpDelete, "/missing", anyVersion),
		c.call(embedded.OpSetData, "/p", []byte("x"), anyVersion),
		c.call(embedded.OpSetACL, "/p", openACL, anyVersion),
	} {
		zxid++
		require.Equal(t, sessionExpired, refused.code)
		require.Equal(t, zxid, refused.zxid)
		require.Empty(t, refused.left)
	}
	multi := c.call(embedded.OpMulti, multiOf(partOf(embedded.OpCheck, "/p", anyVersion),
		partOf(embedded.OpDelete, "/p", anyVersion))).must()
	require.Equal(t, zxid+1, multi.zxid)
	require.Equal(t, refusal(sessionExpired, inconsistent), raw(multi.left))

	c.ping()
	require.True(t, c.exists("/p"))
	c.call(embedded.OpSync, "/p").must()
	require.Len(t, witness.children("/"), 2)
	again := dialRaw(t, s, followers(s)[0])
	require.False(t, again.resume(c), "a session that is over came back")
	c.closed() // by the attempt, as in ZooKeeper
}

// refusal is the body of a multi's reply whose parts have these codes.
func refusal(codes ...int32) (body raw) {
	for _, code := range codes {
		body = append(body, encode(int32(-1), false, code, code)...)
	}
	return append(body, encode(multiEnd, true, int32(-1))...)
}

// A leader, and a server alone, drop what the client of such a session sends.
func TestEndedElsewhereAtTheLeader(t *testing.T) {
	for _, opts := range [][]embedded.Option{nil, threeReplicas} {
		s, _ := frozen(t, opts...)
		c, witness := openRaw(t, s, leader(t, s), time.Minute), openRaw(t, s, 0, time.Minute)
		c.create("/e", ephemeral)
		require.NoError(t, s.EndElsewhere(c.session))
		c.write(c.request(embedded.OpPing), c.request(embedded.OpExists, "/", false), c.request(embedded.OpSync, "/"),
			c.request(embedded.OpCreate, createOf("/a", plain)), c.request(embedded.OpCloseSession))
		witness.create("/b", plain)
		require.ElementsMatch(t, []string{"b", "zookeeper"}, witness.children("/"))
		require.False(t, dialRaw(t, s, leader(t, s)).resume(c))
		c.closed() // and nothing came before
	}
}

// Closing a session that was ended elsewhere is answered, and ends the connection.
func TestEndedElsewhereAndClosed(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	c := openRaw(t, s, followers(s)[0], time.Minute)
	require.NoError(t, s.EndElsewhere(c.session))
	require.Error(t, s.EndElsewhere(c.session))
	c.call(embedded.OpCloseSession).must()
	c.closed()
}

// EndBefore ends the session of a request elsewhere, and the request meets a session that is over.
func TestEndBefore(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t, threeReplicas...)
			c := openRaw(t, s, followers(s)[0], time.Minute)
			c.create("/e", ephemeral)
			inject(t, s, embedded.Fault{Path: "/f-", Action: embedded.EndBefore})
			c.write(write(c))
			r := c.reply()
			if name == "multi" {
				require.Equal(t, refusal(sessionExpired, inconsistent), raw(r.must().left))
			} else {
				require.Equal(t, sessionExpired, r.code)
			}
			require.Equal(t, []string{"zookeeper"}, c.children("/"))
			require.Empty(t, s.Sessions())
		})
	}
}

// A session that moves to another server and is closed there loses its old connection, too.
func TestClosedWhereItHasMoved(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	old := openRaw(t, s, followers(s)[0], time.Minute)
	fresh := dialRaw(t, s, followers(s)[1])
	require.True(t, fresh.resume(old))
	fresh.call(embedded.OpCloseSession).must()
	fresh.closed()
	old.closed()
}

// A server does not ask where a session is when a client closes it: the old connection's close ends it for
// the new one.
func TestClosedByItsOldConnection(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	old := openRaw(t, s, followers(s)[0], time.Minute)
	fresh := dialRaw(t, s, followers(s)[1])
	require.True(t, fresh.resume(old))
	old.call(embedded.OpCloseSession).must()
	old.closed()
	fresh.closed()
	require.Empty(t, s.Sessions())
}
