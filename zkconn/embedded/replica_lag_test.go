package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// lagging is an ensemble with a follower that lags, a client of it, and a writer elsewhere.
func lagging(t *testing.T) (s *embedded.Server, slow *embedded.Replica, reader, writer *rawClient) {
	t.Helper()
	s, _ = frozen(t, threeReplicas...)
	i := followers(s)[0]
	reader, writer = openRaw(t, s, i, time.Minute), openRaw(t, s, leader(t, s), time.Minute)
	writer.create("/old", plain)
	require.NoError(t, s.Replica(i).Lag())
	return s, s.Replica(i), reader, writer
}

// Reads through a replica that lags are answered as of the moment when it began to.
func TestLagReadsThePast(t *testing.T) {
	_, slow, reader, writer := lagging(t)
	before := reader.call(embedded.OpPing).zxid
	writer.create("/new", plain)
	writer.delete("/old")
	require.False(t, reader.exists("/new"))
	require.True(t, reader.exists("/old"))
	require.Equal(t, before, reader.call(embedded.OpPing).zxid)
	slow.CatchUp()
	require.True(t, reader.exists("/new"))
	require.False(t, reader.exists("/old"))
	require.Equal(t, before+2, reader.call(embedded.OpPing).zxid)
	writer.create("/newer", plain)
	require.True(t, reader.exists("/newer"), "it does not lag any more")
}

// A client's own write brings its replica up to date with all that was committed before it, and so does a
// sync; after that it lags again.
func TestLagEndsForAMoment(t *testing.T) {
	for name, request := range map[string]func(*rawClient){
		"write":         func(c *rawClient) { c.create("/mine", plain) },
		"refused write": func(c *rawClient) { require.Equal(t, noNode, c.call(embedded.OpDelete, "/no", anyVersion).code) },
		"sync":          func(c *rawClient) { c.call(embedded.OpSync, "/").must() },
		"new session":   func(c *rawClient) {},
	} {
		t.Run(name, func(t *testing.T) {
			s, slow, reader, writer := lagging(t)
			writer.create("/one", plain)
			require.False(t, reader.exists("/one"))
			if name == "new session" {
				for i, r := range s.Replicas() {
					if r == slow {
						openRaw(t, s, i, time.Minute)
					}
				}
			}
			request(reader)
			require.True(t, reader.exists("/one"))
			writer.create("/two", plain)
			require.False(t, reader.exists("/two"))
			slow.CatchUp()
			require.True(t, reader.exists("/two"))
		})
	}
}

// Watches through a replica that lags fire when it catches up, in the order of the changes, and
// before the reply to the request that made it catch up.
func TestLagHoldsEventsBack(t *testing.T) {
	_, _, reader, writer := lagging(t)
	reader.call(embedded.OpExists, "/new", true)
	reader.call(embedded.OpGetData, "/old", true).must()
	reader.call(embedded.OpGetChildren, "/", true).must()
	writer.create("/new", plain)
	writer.delete("/old")
	reader.ping() // and no event before
	require.Equal(t, noNode, writer.call(embedded.OpExists, "/old", false).code)
	reader.send(embedded.OpSync, "/")
	require.Equal(t, "created /new", reader.event())
	require.Equal(t, "children /", reader.event())
	require.Equal(t, "deleted /old", reader.event())
	require.Equal(t, reader.xid, reader.reply().must().xid)
}

// A watch that is set through a replica that lags is for the tree that this replica shows: it fires for
// changes that the client has not seen, however long ago they were.
func TestLagWatchOnThePast(t *testing.T) {
	_, slow, reader, writer := lagging(t)
	writer.delete("/old")
	reader.call(embedded.OpGetData, "/old", true).must()
	reader.ping()
	slow.CatchUp()
	require.Equal(t, "deleted /old", reader.event())
}

// The end of a session reaches its connection through a replica that lags only with the rest.
func TestLagAndExpiry(t *testing.T) {
	s, slow, reader, writer := lagging(t)
	reader.create("/e", ephemeral)
	require.NoError(t, s.Expire(reader.session))
	require.False(t, writer.exists("/e"))
	require.True(t, reader.exists("/e"))
	slow.CatchUp()
	reader.closed()
}

// The leader makes what the others lag behind: it cannot lag itself.
func TestLeaderCannotLag(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	err := s.Leader().Lag()
	require.ErrorIs(t, err, embedded.ErrLeader)
	require.ErrorContains(t, err, s.Leader().Addr())
	alone, _ := frozen(t)
	require.ErrorIs(t, alone.Leader().Lag(), embedded.ErrLeader)
}

// A replica that lags has what was committed all the same: when it is needed for a majority nothing is
// lost.
func TestLagLosesNothing(t *testing.T) {
	s, slow, reader, writer := lagging(t)
	writer.create("/new", plain)
	for _, r := range s.Replicas() {
		if r != slow && r != s.Leader() {
			r.Stop()
		}
	}
	writer.create("/newer", plain)
	old := s.Leader()
	old.Stop()
	for _, r := range s.Replicas() {
		if r != slow && r != old {
			require.NoError(t, r.Start())
		}
	}
	require.Same(t, slow, s.Leader(), "it has the newest transaction")
	reader.closed()
	for i, r := range s.Replicas() {
		if r != old {
			c := openRaw(t, s, i, time.Minute)
			require.True(t, c.exists("/new"))
			require.True(t, c.exists("/newer"))
		}
	}
}
