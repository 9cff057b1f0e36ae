package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// due is the time at which the leader takes a session for dead, counted from noon.
func due(t *testing.T, s *embedded.Server, c *rawClient) time.Duration {
	t.Helper()
	at, known := s.SessionDue(c.session)
	require.True(t, known)
	return at.Sub(noon)
}

// The leader touches a session of a follower's client when the follower answers its ping, each half
// tick, and not when the client sends something, a committed write included.
func TestFollowersSessionsAreTouchedByPings(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	c := openRaw(t, s, followers(s)[0], time.Second)
	require.Equal(t, time.Second, due(t, s, c), "the leader touched it when it was opened")
	clock.Advance(25 * time.Millisecond)
	require.Equal(t, 1025*time.Millisecond, due(t, s, c), "the follower named it in its answer to the first ping")
	clock.Advance(10 * time.Millisecond)
	c.create("/a", ephemeral)
	c.ping()
	require.Equal(t, 1025*time.Millisecond, due(t, s, c), "a request that is forwarded touches nothing")
	clock.Advance(40 * time.Millisecond)
	require.Equal(t, 1075*time.Millisecond, due(t, s, c))
	clock.Advance(time.Second)
	require.Equal(t, 1075*time.Millisecond, due(t, s, c), "a follower names a session once for what it has heard")
	clock.Advance(25 * time.Millisecond)
	require.Empty(t, s.Sessions())
	c.closed()
}

// A client of the leader itself touches its session with every packet, and so does one of a server
// alone.
func TestLeadersClientsTouchTheirSessions(t *testing.T) {
	for name, opts := range map[string][]embedded.Option{"ensemble": threeReplicas, "alone": nil} {
		t.Run(name, func(t *testing.T) {
			s, clock := frozen(t, opts...)
			c := openRaw(t, s, leader(t, s), time.Second)
			clock.Advance(30 * time.Millisecond)
			c.ping()
			require.Equal(t, 1030*time.Millisecond, due(t, s, c))
		})
	}
}

// With the link from the leader stalled the leader commits what a follower's clients ask for, and
// lets their sessions expire. The answers come when the link is healed, in their order.
func TestStallFromTheLeader(t *testing.T) {
	s, clock := frozen(t, append(threeReplicas, embedded.WithSyncLimit(50))...)
	i := followers(s)[0]
	inside, outside := openRaw(t, s, i, time.Second), openRaw(t, s, leader(t, s), time.Minute)
	clock.Advance(30 * time.Millisecond)
	s.Leader().StallTo(s.Replica(i))
	inside.send(embedded.OpCreate, createOf("/a", ephemeral))
	until(t, func() bool { return outside.exists("/a") })
	clock.Advance(900 * time.Millisecond)
	inside.send(embedded.OpCreate, createOf("/b", ephemeral))
	inside.send(embedded.OpPing)
	inside.send(embedded.OpExists, "/b", false)
	until(t, func() bool { return outside.exists("/b") })
	inside.quiet()
	require.Equal(t, 1025*time.Millisecond, due(t, s, inside))
	clock.Advance(200 * time.Millisecond)
	require.False(t, outside.exists("/a"), "its session has expired")
	require.NotContains(t, s.Sessions(), inside.session)

	s.Leader().HealTo(s.Replica(i))
	first, second := inside.reply(), inside.reply()
	require.Equal(t, []int32{inside.xid - 3, inside.xid - 2}, []int32{first.xid, second.xid})
	require.Equal(t, int32(-2), inside.reply().xid, "a ping is answered behind what was sent before it")
	if inside.take() != nil { // or the end of its session came before the answer to a read, which is no transaction
		inside.closed()
	}
}

// While the link to the leader is stalled, no request of a follower's clients is carried out.
func TestStallToTheLeader(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	inside, outside := openRaw(t, s, i, time.Second), openRaw(t, s, leader(t, s), time.Minute)
	clock.Advance(30 * time.Millisecond)
	s.Replica(i).StallTo(s.Leader())
	before := monitored(t, s, i, "packets_received")
	inside.send(embedded.OpCreate, createOf("/a", plain))
	inside.send(embedded.OpSync, "/")
	until(t, func() bool { return monitored(t, s, i, "packets_received") == before+2 })
	clock.Advance(300 * time.Millisecond)
	outside.create("/b", plain)
	require.False(t, outside.exists("/a"))
	require.Equal(t, 1025*time.Millisecond, due(t, s, inside))
	inside.quiet()
	s.Replica(i).HealTo(s.Leader())
	inside.reply().must()
	inside.reply().must()
	require.True(t, inside.exists("/b"))
	require.Equal(t, 1330*time.Millisecond, due(t, s, inside), "the answers to pings have come through")
}

// Delayed messages arrive later, in their order.
func TestDelay(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	inside, outside := openRaw(t, s, i, time.Second), openRaw(t, s, leader(t, s), time.Minute)
	s.Replica(i).DelayTo(s.Leader(), 40*time.Millisecond)
	s.Leader().DelayTo(s.Replica(i), 20*time.Millisecond)
	before := monitored(t, s, i, "packets_received")
	inside.send(embedded.OpCreate, createOf("/a", plain))
	until(t, func() bool { return monitored(t, s, i, "packets_received") == before+1 })
	clock.Advance(39 * time.Millisecond)
	require.False(t, outside.exists("/a"))
	clock.Advance(time.Millisecond)
	require.True(t, outside.exists("/a"))
	inside.quiet()
	clock.Advance(20 * time.Millisecond)
	inside.reply().must()
}

// A transaction needs a majority that the leader hears and is heard by. Sessions whose time runs
// out meanwhile end when there is one again.
func TestNoMajorityWhileLinksAreStalled(t *testing.T) {
	s, clock := frozen(t, append(threeReplicas, embedded.WithSyncLimit(50))...)
	lead, one, other := s.Leader(), s.Replica(followers(s)[0]), s.Replica(followers(s)[1])
	c, dying := openRaw(t, s, leader(t, s), time.Minute), openRaw(t, s, leader(t, s), time.Second)
	lead.StallTo(one)
	require.True(t, s.Committing())
	other.StallTo(lead)
	require.False(t, s.Committing())
	c.send(embedded.OpCreate, createOf("/a", plain))
	dying.leave()
	clock.Advance(2 * time.Second)
	c.quiet()
	require.Len(t, s.Sessions(), 2, "nobody could end it")
	late := dialRaw(t, s, leader(t, s))
	require.False(t, late.resume(dying), "but it is over")
	other.HealTo(lead)
	c.reply().must()
	require.Len(t, s.Sessions(), 1)
}

// A follower and a leader that do not hear of each other for the sync limit part. The follower
// drops its clients, and takes them again when the link is healed.
func TestFollowerAndLeaderPart(t *testing.T) {
	s, clock := frozen(t, threeReplicas...) // five ticks
	i := followers(s)[0]
	inside, outside := openRaw(t, s, i, time.Minute), openRaw(t, s, leader(t, s), time.Minute)
	lead := s.Leader()
	clock.Advance(30 * time.Millisecond)
	lead.StallTo(s.Replica(i))
	clock.Advance(480 * time.Millisecond)
	inside.ping()
	clock.Advance(100 * time.Millisecond)
	inside.closed()
	outside.create("/a", plain)
	require.Same(t, lead, s.Leader())
	require.False(t, dialRaw(t, s, i).resume(inside), "it serves nobody")
	lead.HealTo(s.Replica(i))
	clock.Advance(50 * time.Millisecond)
	again := dialRaw(t, s, i)
	require.True(t, again.resume(inside))
	require.True(t, again.exists("/a"))
}

// A session that moves is touched then, with the timeout of its new connection, which may end it
// sooner. A new leader starts it with the timeout that it was opened with.
func TestTimeoutsThatDiffer(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	s.Replica(1).SetSessionTimeouts(time.Second, 4*time.Second)
	s.Replica(2).SetSessionTimeouts(20*time.Second, time.Minute)
	old := openRaw(t, s, 0, 10*time.Second)
	require.Equal(t, 10*time.Second, due(t, s, old))
	clock.Advance(10 * time.Millisecond)
	moved := dialRaw(t, s, 1)
	moved.greet(0, 10*time.Second, old.session, old.password)
	require.True(t, moved.welcomed())
	require.Equal(t, 4*time.Second, moved.timeout)
	require.Equal(t, 4010*time.Millisecond, due(t, s, moved))
	again := dialRaw(t, s, 2)
	require.True(t, again.resume(old))
	require.Equal(t, 20*time.Second, again.timeout)
	require.Equal(t, 20010*time.Millisecond, due(t, s, again))
	s.Leader().Stop()
	require.Equal(t, 10010*time.Millisecond, due(t, s, again))
}

// A follower that dies takes with it the touches since its last answer to a ping.
func TestFollowerDiesWithItsTouches(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	c := openRaw(t, s, i, time.Second)
	clock.Advance(30 * time.Millisecond)
	c.create("/a", ephemeral)
	s.Replica(i).Stop()
	clock.Advance(500 * time.Millisecond)
	require.Equal(t, 1025*time.Millisecond, due(t, s, c))
}

// A touch may be lost that comes when the leader's ping is answered.
func TestLoseTouch(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := followers(s)[0]
	c, other := openRaw(t, s, i, time.Second), openRaw(t, s, i, time.Second)
	clock.Advance(30 * time.Millisecond)
	s.Replica(i).LoseTouch()
	clock.Advance(20 * time.Millisecond)
	other.ping() // before the leader's
	clock.Advance(30 * time.Millisecond)
	c.create("/a", ephemeral)
	require.Equal(t, 1025*time.Millisecond, due(t, s, c), "it came when the ping was answered")
	require.Equal(t, 1080*time.Millisecond, due(t, s, other))
	c.ping()
	clock.Advance(50 * time.Millisecond)
	require.Equal(t, 1125*time.Millisecond, due(t, s, c))
}
