package zkconn

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// operations gives the operations of one connection, in the order in which they came, pings
// included.
func (s *fakeServer) operations() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

func (s *fakeServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = nil
}

// Each connection begins with the exchange, before queued requests and before the credentials that
// the library presents.
func TestSASLComesBeforeAnythingElse(t *testing.T) {
	server := newFakeServer(t)
	server.handle = swears("open", 0, nil)
	c, events := dialFake(t, server, "zk1,zk2", WithSASL(&oath{password: "open"}), WithAuth("digest", []byte("u:p")))
	expect(t, events, Connected)
	require.Equal(t, []int32{opSASL, opSASL, opSetAuth}, server.operations())
	for range 5 {
		server.forget()
		server.set(func() { server.unreach = true })
		server.cut()
		expect(t, events, Disconnected)
		var queued sync.WaitGroup
		for range 20 {
			queued.Go(func() { require.NoError(t, c.Sync("/a")) })
		}
		server.set(func() { server.unreach = false })
		queued.Wait()
		expect(t, events, Connected)
		require.Equal(t, []int32{opSASL, opSASL, opSetAuth}, server.operations()[:3])
		require.Len(t, server.seen(opSASL), 2*len(server.seen(opSetAuth)))
	}
	require.NoError(t, c.LastError())
	require.Empty(t, events)
}

func TestSASLIsToldTheServer(t *testing.T) {
	server := newFakeServer(t)
	server.handle = swears("open", 0, nil)
	told := make(chan SASLServer, 1)
	tell := func(_ context.Context, s SASLServer) error {
		told <- s
		return nil
	}
	_, events := dialFake(t, server, "zk1:2182", WithSASL(&oath{password: "open", start: tell}))
	expect(t, events, Connected)
	require.Equal(t, SASLServer{Host: "zk1", Address: "zk1:2182"}, <-told)
}

// A server's answer is final: an event for each attempt, which names everything but the password.
func TestSASLIsRefused(t *testing.T) {
	say := func(reply fakeReply) func(fakeRequest) fakeReply { return func(fakeRequest) fakeReply { return reply } }
	for name, c := range map[string]struct {
		answer func(fakeRequest) fakeReply
		reason string
	}{
		"wrong password":                      {swears("another", codeAuthFailed, nil), "AuthFailed"},
		"wrong password where it is required": {swears("another", codeSASLRequired, nil), "SessionClosedRequireSaslAuth"},
		"no SASL":                             {say(fakeReply{body: saslToken(nil)}), "no SASL"},
		"no SASL requests":                    {say(fakeReply{code: codeUnimplemented, cut: true}), "knows no SASL requests"},
		"another error":                       {say(fakeReply{code: -5}), "error -5"},
		"a strange challenge":                 {say(fakeReply{body: saslToken([]byte("?"))}), "strange thing"},
		"an empty challenge":                  {say(fakeReply{body: saslToken([]byte{})}), "strange thing"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newFakeServer(t)
			server.handle = times(6, opSASL, c.answer, swears("tr0ub4dor", 0, nil))
			conn, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "tr0ub4dor"}))
			e := expect(t, events, AuthFailed)
			require.ErrorIs(t, e.Err, ErrAuthFailed)
			for _, part := range []string{"zk1:2181", "OATH", "alice", c.reason} {
				require.ErrorContains(t, e.Err, part)
			}
			require.NotContains(t, e.Err.Error(), "tr0ub4dor")
			require.Zero(t, e.SessionID, "there is none that is of use")
			for e.Kind == AuthFailed {
				e = nextEvent(t, events)
			}
			require.Equal(t, Connected, e.Kind)
			require.NoError(t, conn.LastError())
			asked := server.asked()
			require.Equal(t, make([]int64, len(asked)), asked, "a session without SASL is left alone")
		})
	}
}

// Servers refuse a right credential now and then: only the second refusal in a row counts.
func TestSASLIsRefusedOnce(t *testing.T) {
	server := newFakeServer(t)
	refuse := func(code int32) {
		server.handle = times(2, opSASL, swears("another", code, nil), swears("open", 0, nil))
	}
	refuse(codeAuthFailed)
	c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}))
	expect(t, events, Connected)
	for _, code := range []int32{codeAuthFailed, codeSASLRequired} {
		server.set(func() { refuse(code) })
		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Connected)
	}
	require.NoError(t, c.LastError())
	require.Empty(t, events)
}

// The same session goes on when a later connection is refused at first.
func TestSASLIsRefusedAtAReconnect(t *testing.T) {
	server := newFakeServer(t)
	server.handle = swears("open", 0, nil)
	c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}))
	expect(t, events, Connected)
	server.set(func() { server.handle = swears("changed", codeAuthFailed, nil) })
	server.cut()
	expect(t, events, Disconnected)
	e := expect(t, events, AuthFailed)
	require.ErrorIs(t, e.Err, ErrAuthFailed)
	require.ErrorIs(t, c.LastError(), ErrAuthFailed)
	require.EqualValues(t, 0x1234, e.SessionID)
	server.set(func() { server.handle = swears("open", 0, nil) })
	for e.Kind == AuthFailed {
		e = nextEvent(t, events)
	}
	require.Equal(t, Connected, e.Kind)
	require.EqualValues(t, 0x1234, e.SessionID)
	require.Equal(t, int64(0x1234), server.asked()[1])
}

// An exchange that is broken off may succeed next time: no event, the next attempt follows.
func TestSASLIsBrokenOff(t *testing.T) {
	say := func(reply fakeReply) func(fakeRequest) fakeReply { return func(fakeRequest) fakeReply { return reply } }
	for name, answer := range map[string]func(fakeRequest) fakeReply{
		"the server hangs up":          say(fakeReply{silent: true, cut: true}),
		"at the second request":        say(fakeReply{body: saslToken([]byte("who")), cut: true}),
		"an event in place of a reply": say(fakeReply{event: make([]byte, 20)}),
		"a reply without a token":      say(fakeReply{}),
		"a token that is cut short":    say(fakeReply{body: []byte{0, 0, 0, 9, 'w'}}),
		"a token of negative length":   say(fakeReply{body: []byte{0xff, 0xff, 0xff, 0xfe, 'w'}}),
		"a token that is too large":    say(fakeReply{body: make([]byte, maxSASLReply)}),
	} {
		t.Run(name, func(t *testing.T) {
			server := newFakeServer(t)
			server.handle = times(2, opSASL, answer, swears("open", 0, nil))
			c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}))
			expect(t, events, Connected)
			require.NoError(t, c.Sync("/a"))
			require.Empty(t, events)
		})
	}
}

// A server that falls silent in the exchange costs the time of a handshake, and the error says so.
func TestSASLWithASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.handle = swears("open", 0, nil)
		c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}))
		expect(t, events, Connected)
		server.set(func() { server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} } })
		server.cut()
		expect(t, events, Disconnected)
		start := time.Now()
		time.Sleep(session40 / 3)
		synctest.Wait()
		require.ErrorContains(t, c.LastError(), "OATH")
		require.NotErrorIs(t, c.LastError(), ErrAuthFailed)
		server.set(func() { server.handle = swears("open", 0, nil) })
		expect(t, events, Connected)
		require.Less(t, time.Since(start), session40, "two handshakes")
	})
}

// Where it is urgent it costs half of the time that the lease has left.
func TestSASLWithASilentServerWhereItIsUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.handle = swears("open", 0, nil)
		c, events := dialFake(t, server, "zk1,zk2", WithSASL(&oath{password: "open"}))
		expect(t, events, Connected)
		server.set(func() {
			silent := func(fakeRequest) fakeReply { return fakeReply{silent: true} }
			server.handle = times(1, opSASL, silent, swears("open", 0, nil))
		})
		urgentFor(c.hosts.urgency, 9*time.Second)
		server.cut()
		expect(t, events, Disconnected)
		start := time.Now()
		expect(t, events, Connected)
		require.InDelta(t, 4.5, time.Since(start).Seconds(), 0.5)
	})
}

func TestCloseWhileSASLIsUnderWay(t *testing.T) {
	server := newFakeServer(t)
	server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} }
	c, events := dialFake(t, server, "zk1", WithSASL(&oath{}))
	require.Eventually(t, func() bool { return len(server.seen(opSASL)) == 1 }, minute, tick)
	require.NoError(t, c.Close(), "no session was granted that is of use")
	require.Empty(t, events)
}

// A server's answers in the exchange are no evidence: the lease runs from the connect request, and the packets of
// the exchange touch nothing, so that a ping goes before the first transaction.
func TestSASLIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		const slow = 2 * time.Second
		server.handle = swears("open", 0, committing)
		c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}))
		expect(t, events, Connected)
		server.set(func() {
			answer := swears("open", 0, committing)
			server.handle = func(r fakeRequest) fakeReply {
				if r.op == opSASL {
					time.Sleep(slow)
				}
				return answer(r)
			}
		})
		beat(t, c)
		require.Equal(t, session40*9/10, leaseLeft(c))
		deadline := c.Lease().Deadline()
		time.Sleep(5 * time.Second)
		server.forget()
		server.cut()
		expect(t, events, Disconnected)
		start := time.Now()
		expect(t, events, Connected)
		took := time.Since(start)
		require.GreaterOrEqual(t, took, 2*slow)
		require.Equal(t, deadline, c.Lease().Deadline(), "not yet extended")
		beat(t, c)
		require.Less(t, leaseLeft(c), session40*9/10-2*slow+time.Millisecond, "from the connect request")
		require.Greater(t, leaseLeft(c), session40*9/10-2*slow-time.Second)
		require.Equal(t, []int32{opSASL, opSASL, opPing, opMulti}, server.operations())
	})
}

// Servers that require SASL say so to the first request.
func TestServerRequiresSASL(t *testing.T) {
	for name, opts := range map[string][]Option{"none": nil, "another scheme": {WithSASL(&oath{password: "open"})}} {
		t.Run(name, func(t *testing.T) {
			server := newFakeServer(t)
			refuses := func(fakeRequest) fakeReply { return fakeReply{code: codeSASLRequired, cut: true} }
			server.handle = swears("open", 0, refuses)
			c, events := dialFake(t, server, "zk1", opts...)
			expect(t, events, Connected)
			err := c.Sync("/a")
			require.ErrorIs(t, err, ErrAuthFailed)
			require.Equal(t, Refused, OutcomeOf(err))
			e := expect(t, events, AuthFailed)
			require.ErrorIs(t, e.Err, ErrAuthFailed)
			require.ErrorContains(t, e.Err, "zk1:2181")
			require.ErrorContains(t, e.Err, "SASL")
		})
	}
}

// A predecessor's session is closed at servers that require SASL.
func TestCloseSessionWithSASL(t *testing.T) {
	server := newFakeServer(t)
	server.handle = swears("open", codeSASLRequired, nil)
	cfg := closing(t, server.dial, WithSASL(&oath{password: "open"}))
	server.session = strangerID
	existed, err := CloseSession(t.Context(), cfg, "h", strangerID, strangerPassword)
	require.NoError(t, err)
	require.True(t, existed)
	require.Equal(t, []int32{opSASL, opSASL, opClose}, server.operations())

	cfg = closing(t, server.dial, WithSASL(&oath{password: "another"}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = CloseSession(ctx, cfg, "h", strangerID, strangerPassword)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
