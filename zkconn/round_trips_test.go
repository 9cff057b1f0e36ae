package zkconn

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// session40 is the timeout that the fake server grants.
const session40 = 40 * time.Second

// leaseLeft is how long the lease runs yet, and 0 when it is over.
func leaseLeft(c *Conn) time.Duration {
	if !c.Lease().Valid() {
		return 0
	}
	return time.Until(c.Lease().Deadline())
}

func beat(t *testing.T, c *Conn) {
	t.Helper()
	_, err := c.Heartbeat("/a")
	require.ErrorIs(t, err, ErrNoNode, "the fake server's answer")
}

// committing answers heartbeats with a refusal that is a transaction.
func committing(r fakeRequest) fakeReply {
	if r.op == opMulti {
		return fakeReply{code: codeNoNode}
	}
	return fakeReply{}
}

func dialCommitting(t *testing.T, opts ...Option) (*fakeServer, *Conn, <-chan Event) {
	server := newFakeServer(t)
	server.handle = committing
	c, events := dialFake(t, server, "zk1,zk2", opts...)
	expect(t, events, Connected)
	return server, c, events
}

func TestLeaseOfANewConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		require.False(t, c.Lease().Valid(), "a connection by itself proves nothing: its server may be cut off")
		time.Sleep(5 * time.Second)
		require.NoError(t, c.Sync("/a"))
		require.False(t, c.Lease().Valid(), "nor does a sync, which an isolated leader answers")
		beat(t, c)
		require.Equal(t, session40*9/10-5*time.Second, leaseLeft(c), "it counts from the connect request")

		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Connected)
		time.Sleep(session40 * 9 / 10)
		beat(t, c)
		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Connected)
		beat(t, c)
		require.Equal(t, session40*9/10, leaseLeft(c).Round(10*time.Millisecond), "every connection counts anew")
	})
}

// TestSessionThatMayBeExpiring: a leader that is closing many sessions renews one that is due, commits what it sends, and
// closes it all the same. So a lease that was over begins again only when that must have happened.
func TestSessionThatMayBeExpiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		again := func(outage time.Duration) {
			server.set(func() { server.unreach = true })
			server.cut()
			expect(t, events, Disconnected)
			time.Sleep(outage)
			server.set(func() { server.unreach = false })
			expect(t, events, Connected)
		}
		beat(t, c)
		again(session40 / 2)
		beat(t, c)
		require.Equal(t, session40*9/10, leaseLeft(c).Round(10*time.Millisecond), "it is not due yet")

		again(session40)
		connected := time.Now()
		for beat(t, c); !c.Lease().Valid(); beat(t, c) {
			time.Sleep(100 * time.Millisecond)
		}
		require.GreaterOrEqual(t, time.Since(connected), session40/24)
		require.Less(t, time.Since(connected), session40/12)
		require.Equal(t, session40*9/10, time.Until(c.Lease().Deadline().Add(time.Since(connected))).Round(10*time.Millisecond))
	})
}

// TestIdleSessionIsReady: the first transaction after a long pause is all that a grant needs.
func TestIdleSessionIsReady(t *testing.T) {
	for _, phase := range []time.Duration{0, 1, 2, 5, 9, 13} { // between one sync and the next
		synctest.Test(t, func(t *testing.T) {
			server, c, _ := dialCommitting(t)
			time.Sleep(10*time.Minute + phase*time.Second)
			beat(t, c)
			require.Greater(t, leaseLeft(c), session40/6, "%d s", phase)
			require.InDelta(t, 600/(40.0/3), len(server.seen(opSync)), 2, "one for each ping")
			server.set(func() {
				if phase > 1 { // after a silence
					require.Equal(t, []int32{opPing, opMulti}, server.order[len(server.order)-2:], "a ping goes first")
				}
			})
		})
	}
}

// TestIdleSyncsAreToldApart: the answer to one that is not followed, because too many requests are under way, must not pass
// for the answer to a later one.
func TestIdleSyncsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, events := dialCommitting(t)
		time.Sleep(10 * session40)
		seen := map[int32]bool{}
		for _, r := range server.seen(opSync) {
			require.LessOrEqual(t, r.xid, int32(xidIdleSync))
			require.False(t, seen[r.xid], "%d", r.xid)
			seen[r.xid] = true
		}
		require.GreaterOrEqual(t, len(seen), 29)
		require.Empty(t, events, "their answers are not the library's")
	})
}

// TestWithoutIdleSyncs: without them the evidence for a grant takes a third of a session timeout.
func TestWithoutIdleSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, _ := dialCommitting(t, WithoutIdleSyncs())
		time.Sleep(10 * time.Minute)
		require.Empty(t, server.seen(opSync))
		began := time.Now()
		for beat(t, c); !c.Lease().Valid(); beat(t, c) {
			require.Less(t, time.Since(began), session40)
			time.Sleep(session40 / 16)
		}
		require.GreaterOrEqual(t, time.Since(began), session40/4)
		require.Less(t, time.Since(began), session40/2)
	})
}

// TestWithServerTick: where the tick is known, the evidence is there sooner, and the lease lasts longer.
func TestWithServerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c, _ := dialCommitting(t, WithServerTick(2*time.Second))
		for range 60 {
			time.Sleep(session40 / 6)
			beat(t, c)
		}
		require.InDelta(t, float64(session40)*(0.9-1.0/3), float64(leaseLeft(c)), float64(session40)/1000)
	})
}

// TestRefusalsThatAreNoEvidence: what a server may say by itself proves nothing of the leader.
func TestRefusalsThatAreNoEvidence(t *testing.T) {
	for code, evidence := range map[int32]bool{
		0: true, codeNoNode: true, codeBadVersion: true, codeNoChildrenForEphemerals: true,
		codeNodeExists: true, codeNotEmpty: true,
		codeNoAuth: false, // a follower says so by itself where zookeeper.enableEagerACLCheck is set

		-118: false, // session moved
		-127: false, // throttled
		-124: false, // SASL required
		-4:   false, // connection loss
		-115: false, // auth failed
		-112: false, // session expired
	} {
		require.Equal(t, evidence, decidedByLeader(code), "%d", code)
	}
}

// TestTimeoutThatShrinks: two held for 7.6 s where a server granted less than the one before, and the lease went on by
// what that one had granted.
func TestTimeoutThatShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		beat(t, c)
		require.Equal(t, session40*9/10, leaseLeft(c))
		server.set(func() { server.grants = 4_000 })
		server.cut()
		expect(t, events, Disconnected)
		e := expect(t, events, Connected)
		require.Equal(t, 4*time.Second, e.Timeout)
		require.Equal(t, 4*time.Second, c.SessionTimeout())
		require.LessOrEqual(t, leaseLeft(c), 3600*time.Millisecond, "at once")
		require.Positive(t, leaseLeft(c))

		server.set(func() { server.grants = 40_000 })
		server.cut()
		expect(t, events, Disconnected)
		e = expect(t, events, Connected)
		require.Equal(t, 4*time.Second, e.Timeout, "a new leader may know the session by the shorter one")
		beat(t, c)
		require.LessOrEqual(t, leaseLeft(c), 3600*time.Millisecond)
	})
}

// TestConnectRequestWithoutAnAnswer: its server may have told the leader a shorter timeout already.
func TestConnectRequestWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.handle = committing
		cfg, err := NewConfig("zk1,zk2", WithDialer(server.dial), WithSessionTimeout(session40))
		require.NoError(t, err)
		open := func(grants uint32) (*Conn, <-chan Event) {
			server.set(func() { server.session++; server.grants = grants })
			events := make(chan Event, 100)
			c, err := Dial(cfg, 1, func(e Event) { events <- e })
			require.NoError(t, err)
			expect(t, events, Connected)
			beat(t, c)
			return c, events
		}
		short, _ := open(4_000) // another session, at a server of this list
		short.Close()
		c, events := open(40_000)
		defer c.Close()
		require.Equal(t, session40*9/10, leaseLeft(c))
		server.set(func() { server.mute = true })
		server.cut()
		expect(t, events, Disconnected)
		time.Sleep(time.Second)
		require.LessOrEqual(t, leaseLeft(c), 3600*time.Millisecond)
		server.set(func() { server.mute = false })
	})
}

// TestStaleConnectionIsNoEvidence: an answer of the connection before the newest extends nothing.
func TestStaleConnectionIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := aKeeper()
		old, next := &roundTrips{keeper: k}, &roundTrips{keeper: k}
		old.connecting()
		old.connected(session40)
		old.sending(opMulti, 1)
		next.connecting()
		old.replied(1, 0)
		require.False(t, k.clock.Valid())
		next.connected(session40)
		time.Sleep(session40 / 24)
		next.sending(opMulti, 1)
		next.replied(1, 0)
		require.True(t, k.clock.Valid())
	})
}

// Requests whose answers never come, or come out of turn, leave nothing behind.
func TestFlightsAreForgotten(t *testing.T) {
	k := aKeeper()
	r := &roundTrips{keeper: k}
	r.connecting()
	r.connected(session40)
	for i := range int32(maxFlights + 10) {
		r.sending(opDelete, i)
	}
	require.Len(t, r.flights, maxFlights)
	r.replied(maxFlights-2, 0)
	require.Equal(t, []int32{maxFlights - 1}, slices.Collect(func(yield func(int32) bool) {
		for _, f := range r.flights {
			if !yield(f.xid) {
				return
			}
		}
	}))
	r.replied(7, 0)
	require.Len(t, r.flights, 1)
}

// TestShortTimeoutThatMayArriveLate: a connect request without an answer may reach the leader much later, with the timeout
// of the server that got it. From then on the session counts on no more.
func TestShortTimeoutThatMayArriveLate(t *testing.T) {
	k := aKeeper()
	first, lost, next := &roundTrips{keeper: k}, &roundTrips{keeper: k}, &roundTrips{keeper: k}
	first.connecting()
	require.Equal(t, session40, first.connected(session40))
	k.list.note(4 * time.Second) // in another session, of the same servers
	lost.connecting()
	next.connecting()
	require.Equal(t, 4*time.Second, next.connected(session40))
}
