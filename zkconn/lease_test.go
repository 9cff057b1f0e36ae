package zkconn

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// session40 is the timeout that the fake server grants.
const session40 = 40 * time.Second

// leaseLeft is the time that the lease has left, and 0 when it is over.
func leaseLeft(c *Conn) time.Duration {
	if !c.Lease().Valid() {
		return 0
	}
	return time.Until(c.Lease().Deadline())
}

func beat(t *testing.T, c *Conn) {
	t.Helper()
	err := c.Heartbeat("/a")
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

// TestSessionThatMayBeDue: a leader that is closing many sessions renews one that is due, commits what it sends, and
// closes it all the same. So no lease rests on a session again that may have been due.
func TestSessionThatMayBeDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		again := func(outage time.Duration) {
			server.set(func() { server.unreach = true })
			server.cut()
			expect(t, events, Disconnected)
			time.Sleep(outage)
			server.set(func() { server.unreach = false })
		}
		beat(t, c)
		again(session40 / 2)
		expect(t, events, Connected)
		beat(t, c)
		require.Equal(t, session40*9/10, leaseLeft(c).Round(10*time.Millisecond), "it is not due yet")
		require.True(t, c.Proved())

		began := time.Now()
		again(session40 * 19 / 20)
		lapsed := expect(t, events, Lapsed)
		require.Equal(t, session40*9/10, lapsed.At.Sub(began).Round(time.Second))
		expect(t, events, Connected)
		require.False(t, c.Proved())
		for range 40 {
			beat(t, c)
			require.False(t, c.Lease().Valid(), "whatever is committed")
			time.Sleep(session40 / 16)
		}

		again(0)
		expect(t, events, Connected)
		lost := time.Now()
		again(2 * session40)
		e := expect(t, events, Expired)
		require.ErrorIs(t, e.Err, errGivenUp, "it is over, or as good as over, and no server says so")
		require.Equal(t, session40, e.At.Sub(lost).Round(time.Second))
		require.Len(t, server.asked(), 4)
	})
}

// TestNotAnsweredInTime: the chain breaks on a connection that stays, too.
func TestNotAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		beat(t, c)
		began := time.Now()
		require.True(t, c.Lease().Valid())
		server.set(func() { server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} } })
		lapsed := expect(t, events, Lapsed)
		require.Equal(t, session40*9/10, lapsed.At.Sub(began))
		require.False(t, c.Proved())
		require.False(t, c.Lease().Valid())
		server.set(func() { server.handle = committing })
		beat(t, c)
		require.False(t, c.Lease().Valid())
		require.Empty(t, events, "the connection stays, and serves what needs no lease")
	})
}

// TestSyncsKeepTheChain: an idle session commits nothing and proves on that it lives, on one connection. On the next only
// what a transaction has shown counts.
func TestSyncsKeepTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		time.Sleep(10 * session40)
		require.True(t, c.Proved())
		require.Empty(t, server.seen(opMulti))
		require.Empty(t, events)
		server.cut()
		var seen []EventKind
		for !slices.Contains(seen, Connected) {
			seen = append(seen, nextEvent(t, events).Kind)
		}
		require.Contains(t, seen, Lapsed, "the server may have left its leader long ago")
		require.False(t, c.Proved())

		server, c, events = dialCommitting(t)
		time.Sleep(10 * session40)
		beat(t, c)
		require.True(t, c.Lease().Valid())
		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Connected)
		require.True(t, c.Proved(), "a transaction has shown that the syncs' leader was one")
	})
}

// TestSlowServers: a lease lasts where round trips take T/8. Package lease has the other lengths.
func TestSlowServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.delay = session40 / 8
		server.handle = committing
		c, events := dialFake(t, server, "zk1")
		expect(t, events, Connected)
		c.KeepLease(true)
		beat(t, c)
		for range 200 {
			require.True(t, c.Lease().Valid())
			time.Sleep(session40 / 6)
			beat(t, c)
		}
	})
}

// TestSessionOfAnother: a server that does not know the session and hands out another ends the epoch at once, and leaves
// none behind.
func TestSessionOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		server.set(func() { server.session = 0x777 })
		server.cut()
		expect(t, events, Disconnected)
		for {
			e := <-events
			if e.Kind == Lapsed {
				continue
			}
			require.Equal(t, Expired, e.Kind)
			require.ErrorIs(t, e.Err, ErrOtherSession)
			break
		}
		synctest.Wait()
		require.Len(t, server.seen(opClose), 1)
		time.Sleep(10 * session40)
		require.Len(t, server.asked(), 2)
		require.False(t, c.Ended(), "the server did not say so")
	})
}

// TestSessionEndedElsewhere: an answer says that the session is over, in its header, or in a part of a multi whose header
// says that all is well. A lease was renewed by those for ever.
func TestSessionEndedElsewhere(t *testing.T) {
	part := binary.BigEndian.AppendUint32(nil, 0xffffffff)                          // an error
	part = binary.BigEndian.AppendUint32(append(part, 0), 0)                        // not the last
	expired := binary.BigEndian.AppendUint32(bytes.Clone(part), uint32(0xffffff90)) // -112
	notTried := binary.BigEndian.AppendUint32(bytes.Clone(part), uint32(0xfffffffe))
	last := append(bytes.Clone(part[:4]), 1, 0xff, 0xff, 0xff, 0xff)
	for name, reply := range map[string]fakeReply{
		"header":      {code: codeSessionExpired},
		"first part":  {body: slices.Concat(expired, last)},
		"second part": {body: slices.Concat(part, []byte{0, 0, 0, 0}, expired, notTried, last)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, c, events := dialCommitting(t)
				beat(t, c)
				require.True(t, c.Lease().Valid())
				server.set(func() { server.handle = func(fakeRequest) fakeReply { return reply } })
				err := c.Heartbeat("/a")
				require.Error(t, err)
				require.False(t, c.Lease().Valid())
				for {
					if e := <-events; e.Kind == Expired {
						require.NoError(t, e.Err)
						break
					}
				}
				require.True(t, c.Ended())
			})
		})
	}
}

// TestIdleSessionIsReady: the first transaction after a long pause is all that a grant needs.
func TestIdleSessionIsReady(t *testing.T) {
	for _, phase := range []time.Duration{0, 1, 2, 5, 9, 13} { // between one sync and the next
		synctest.Test(t, func(t *testing.T) {
			server, c, _ := dialCommitting(t)
			time.Sleep(10*time.Minute + phase*time.Second)
			beat(t, c)
			require.Greater(t, leaseLeft(c), session40/6, "%d s", phase)
			require.InDelta(t, 600/(40.0*0.161), len(server.seen(opSync)), 2, "one each sixth of a session timeout, or nearly")
			server.set(func() {
				if phase%13 != 0 { // after a silence: at 0 and 13 seconds a sync has just gone
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
			require.LessOrEqual(t, r.xid, int32(xidOwn))
			require.False(t, seen[r.xid], "%d", r.xid)
			seen[r.xid] = true
		}
		require.GreaterOrEqual(t, len(seen), 29)
		require.Empty(t, events, "their answers are not the library's")
	})
}

// TestWithoutIdleSyncs: without them a pause of a session timeout leaves no session that a lease may rest on.
func TestWithoutIdleSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t, WithoutIdleSyncs())
		time.Sleep(session40 / 2)
		beat(t, c)
		require.True(t, c.Lease().Valid())
		time.Sleep(session40)
		require.Empty(t, server.seen(opSync))
		expect(t, events, Lapsed)
		beat(t, c)
		require.False(t, c.Lease().Valid())
	})
}

// TestLeaseThatCannotLast: a proof takes a third of a session timeout. A session that has asked for none, and that is over
// sooner, is given up at once: a lock that was granted in it would be lost.
func TestLeaseThatCannotLast(t *testing.T) {
	for _, pause := range []float64{0.4, 0.7} {
		synctest.Test(t, func(t *testing.T) {
			_, c, events := dialCommitting(t, WithoutIdleSyncs())
			for range 3 { // and so again after each lock
				time.Sleep(time.Duration(pause * float64(session40)))
				c.KeepLease(true)
				if pause > 0.5 {
					beat(t, c)
					require.False(t, c.Lease().Valid())
					expect(t, events, Lapsed)
					return
				}
				beat(t, c)
				term, valid := c.Lease().Term()
				require.True(t, valid)
				for range 20 {
					time.Sleep(session40 / 16)
					beat(t, c)
					require.True(t, c.Lease().Unbroken(term))
				}
				c.KeepLease(false)
			}
			require.Empty(t, events)
		})
	}
}

// TestWithServerTick: where the tick is known, the evidence is there sooner, and the lease lasts longer.
func TestWithServerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c, _ := dialCommitting(t, WithServerTick(2*time.Second))
		for range 60 {
			time.Sleep(session40 / 6)
			beat(t, c)
		}
		require.InDelta(t, float64(session40)*(0.9-1.0/3), float64(leaseLeft(c)), float64(session40)/100)
	})
}

// TestTimeoutThatShrinks: two held for 7.6 s where a server granted less than the one before, and the lease went on by
// the earlier timeout.
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

// TestNodesOfATxnAreKept: a session that has made an ephemeral node by Txn, and that has no lock,
// commits a transaction each T/6. So it survives the loss of its connection. So does one that wants
// a lease and whose owner sends no heartbeats.
func TestNodesOfATxnAreKept(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, c *Conn){
		"a node of a Txn": func(t *testing.T, c *Conn) {
			_, _, err := c.Txn(Guard{"/guard", -1}, []Op{{Kind: OpCreate, Path: "/mine", Ephemeral: true}})
			require.ErrorIs(t, err, ErrNoNode, "the fake server's answer: the session must count on the node")
		},
		"a lease without heartbeats": func(_ *testing.T, c *Conn) { c.KeepLease(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, c, events := dialCommitting(t)
				var at []time.Time // when transactions came
				server.set(func() {
					server.handle = func(r fakeRequest) fakeReply {
						if r.op == opMulti {
							server.set(func() { at = append(at, time.Now()) })
						}
						return committing(r)
					}
				})
				begin(t, c)
				time.Sleep(session40 / 2) // the first may wait for an owner
				server.set(func() { at = at[len(at)-1:] })
				time.Sleep(10 * session40)
				server.set(func() {
					require.GreaterOrEqual(t, len(at), 60)
					for i := range at[1:] {
						require.LessOrEqual(t, at[i+1].Sub(at[i]), session40/6)
					}
				})
				require.Empty(t, events)

				server.set(func() { server.unreach = true })
				server.cut()
				expect(t, events, Disconnected)
				time.Sleep(session40 / 4)
				server.set(func() { server.unreach = false })
				expect(t, events, Connected)
				require.True(t, c.Proved())
			})
		})
	}
}
