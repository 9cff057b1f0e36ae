package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A follower that is cut off goes on answering pings and reads, from what it had; the others go on too.
func TestCutOffFollowerAnswersFromThePast(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	i, lead := followers(s)[0], s.Leader()
	inside, outside := openRaw(t, s, i, time.Minute), openRaw(t, s, leader(t, s), time.Minute)
	outside.create("/old", plain)
	inside.call(embedded.OpExists, "/old", true).must()
	s.Replica(i).CutOff()
	s.Replica(i).CutOff() // twice is once
	require.Same(t, lead, s.Leader(), "a majority still follows it")
	outside.delete("/old")
	outside.create("/new", plain)
	inside.ping()
	require.True(t, inside.exists("/old"))
	require.False(t, inside.exists("/new"))
	require.Equal(t, []string{"zookeeper", "old"}, inside.children("/"))

	s.Replica(i).Rejoin()
	inside.closed()
	outside.ping()
	again := dialRaw(t, s, i)
	require.True(t, again.resume(inside))
	require.False(t, again.exists("/old"))
	require.True(t, again.exists("/new"))
	s.Replica(i).Rejoin()
	again.ping()
}

// A request that needs the leader gets no answer from a follower that is cut off, nor does any later request
// on the connection; none of them is ever carried out. The connection is closed when the follower is back.
func TestCutOffFollowerParksWhatNeedsTheLeader(t *testing.T) {
	for name, request := range map[string]func(c *rawClient) []byte{
		"write": func(c *rawClient) []byte { return c.request(embedded.OpCreate, createOf("/a", plain)) },
		"multi": func(c *rawClient) []byte {
			return c.request(embedded.OpMulti, multiOf(partOf(embedded.OpCreate, createOf("/a", plain))))
		},
		"sync":  func(c *rawClient) []byte { return c.request(embedded.OpSync, "/") },
		"close": func(c *rawClient) []byte { return c.request(embedded.OpCloseSession) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t, threeReplicas...)
			i := followers(s)[0]
			parked, other := openRaw(t, s, i, time.Minute), openRaw(t, s, i, time.Minute)
			s.Replica(i).CutOff()
			asked := inject(t, s, embedded.Fault{Session: parked.session})
			parked.write(request(parked), parked.request(embedded.OpPing), parked.request(embedded.OpExists, "/", false))
			require.NoError(t, asked.Wait(t.Context()))
			other.ping()
			parked.quiet()
			s.Replica(i).Rejoin()
			parked.closed()
			require.False(t, openRaw(t, s, i, time.Minute).exists("/a"))
			require.Contains(t, s.Sessions(), parked.session)
		})
	}
}

// A client that asks a follower that is cut off for a session, a new one or an old one, waits, and is let go when
// the follower is back.
func TestCutOffFollowerOpensNoSessions(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	roaming := openRaw(t, s, leader(t, s), time.Minute)
	s.Replica(i).CutOff()
	before := monitored(t, s, i, "packets_received")
	fresh, back, impatient := dialRaw(t, s, i), dialRaw(t, s, i), dialRaw(t, s, i)
	fresh.greet(0, time.Minute, 0, make([]byte, 16))
	back.greet(0, time.Minute, roaming.session, roaming.password)
	impatient.greet(0, time.Second, 0, make([]byte, 16))
	impatient.send(embedded.OpPing)
	until(t, func() bool { return monitored(t, s, i, "packets_received") == before+4 })
	clock.Advance(20 * time.Second)
	impatient.closed() // by its own timeout
	fresh.quiet()
	back.quiet()
	require.Equal(t, []int64{roaming.session}, s.Sessions())
	s.Replica(i).Rejoin()
	fresh.closed()
	back.closed()
	require.Equal(t, []int64{roaming.session}, s.Sessions())
}

// The leader hears nothing of the clients of a follower that is cut off: their sessions expire, and their
// locks go to others, while the follower goes on answering them. No answer to a ping or a read is evidence
// that a session lives.
func TestCutOffFollowersSessionsExpire(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	inside, outside := openRaw(t, s, i, 10*time.Second), openRaw(t, s, leader(t, s), time.Minute)
	inside.create("/lock", ephemeral)
	outside.call(embedded.OpExists, "/lock", true).must()
	s.Replica(i).CutOff()
	for range 11 {
		clock.Advance(900 * time.Millisecond)
		inside.ping()
		require.True(t, inside.exists("/lock"))
	}
	require.Len(t, s.Sessions(), 2)
	clock.Advance(100 * time.Millisecond)
	require.Equal(t, []int64{outside.session}, s.Sessions())
	require.Equal(t, "deleted /lock", outside.event())
	inside.ping()
	require.True(t, inside.exists("/lock"), "it still believes that it has the lock")
	s.Replica(i).Rejoin()
	inside.closed()
	require.False(t, dialRaw(t, s, i).resume(inside))
	require.False(t, openRaw(t, s, i, time.Minute).exists("/lock"))
}

// Clients of a follower that is cut off go to another replica, with their sessions.
func TestSessionLeavesCutOffFollower(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i, j := followers(s)[0], followers(s)[1]
	old := openRaw(t, s, i, 10*time.Second)
	old.create("/e", ephemeral)
	s.Replica(i).CutOff()
	clock.Advance(9 * time.Second)
	old.ping()
	fresh := dialRaw(t, s, j)
	require.True(t, fresh.resume(old))
	clock.Advance(9 * time.Second)
	fresh.ping()
	require.True(t, fresh.exists("/e"))
	fresh.delete("/e")
	require.True(t, old.exists("/e"))
}

// A lone server that is cut off from nobody at all has no majority either.
func TestCutOffAlone(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.create("/a", plain)
	s.Replica(0).CutOff()
	require.Nil(t, s.Leader())
	require.True(t, c.exists("/a"))
	s.Replica(0).Rejoin()
	c.closed()
	again := dialRaw(t, s, 0)
	require.True(t, again.resume(c))
	again.delete("/a")
}
