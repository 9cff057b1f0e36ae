package zkconn

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestConnectsAndCloses(t *testing.T) {
	server := newFakeServer(t)
	c, events := dialFake(t, server, "zk1")
	e := expect(t, events, Connected)
	require.EqualValues(t, 7, e.Epoch)
	require.EqualValues(t, 0x1234, e.SessionID)
	require.Equal(t, 40*time.Second, e.Timeout)
	require.Equal(t, "zk1:2181", e.Server)
	require.False(t, e.At.IsZero())
	require.EqualValues(t, 7, c.Epoch())
	require.EqualValues(t, 0x1234, c.SessionID())
	require.Equal(t, 40*time.Second, c.SessionTimeout())
	require.NoError(t, c.LastError())

	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() { _ = c.Close() })
	}
	closing.Wait()
	require.Len(t, server.seen(opClose), 1, "the session is closed at the server")
	require.Empty(t, events, "Close is no loss")

	err := c.Delete("/a")
	require.ErrorIs(t, err, ErrClosed)
	require.Equal(t, NotSent, OutcomeOf(err))
}

func TestReconnectsInTheSameSession(t *testing.T) {
	server := newFakeServer(t)
	c, events := dialFake(t, server, "zk1")
	expect(t, events, Connected)
	for range 5 {
		server.cut()
		e := expect(t, events, Disconnected)
		require.ErrorContains(t, e.Err, "zk1:2181")
		e = expect(t, events, Connected)
		require.EqualValues(t, 0x1234, e.SessionID)
		require.NoError(t, c.LastError())
	}
	require.Equal(t, []int64{0, 0x1234, 0x1234, 0x1234, 0x1234, 0x1234}, server.asked())
}

func TestOneSessionPerEpoch(t *testing.T) {
	server := newFakeServer(t)
	c, events := dialFake(t, server, "zk1,zk2,zk3")
	expect(t, events, Connected)
	server.set(func() { server.unreach = true })
	server.cut()
	expect(t, events, Disconnected)

	// Requests that are queued now must never run, in this session or in another.
	errs := make(chan error, 40)
	for range cap(errs) {
		go func() { errs <- c.SetData("/a", nil) }()
	}
	server.set(func() { server.unreach, server.session = false, 0 })
	e := expect(t, events, Expired)
	require.EqualValues(t, 0x1234, e.SessionID)
	server.set(func() { server.session = 0x9999 })
	for range cap(errs) {
		err := <-errs
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, err, zk.ErrSessionExpired)
	}
	require.Equal(t, NotSent, OutcomeOf(c.Sync("/a")))
	require.EqualValues(t, 0x1234, c.SessionID())
	c.Close()
	require.Equal(t, []int64{0, 0x1234}, server.asked(), "never asks for a second session")
	require.Empty(t, events, "Expired comes once, and last")
	require.Empty(t, server.seen(5))
}

func TestCloseWithADeadEnsemble(t *testing.T) {
	for name, prepare := range map[string]func(s *fakeServer){
		"unreachable": func(s *fakeServer) { s.unreach = true },
		"mute":        func(s *fakeServer) { s.mute = true },
	} {
		t.Run(name, func(t *testing.T) {
			server := newFakeServer(t)
			prepare(server)
			c, events := dialFake(t, server, "zk1", WithReconnectBackoff(time.Hour, time.Hour))
			errs := make(chan error, 40)
			for range cap(errs) {
				go func() { errs <- c.SetData("/a", nil) }()
			}
			require.NoError(t, c.Close(), "there is no session")
			require.True(t, c.Ended())
			for range cap(errs) {
				require.ErrorIs(t, <-errs, ErrClosed)
			}
			require.Empty(t, events)
		})
	}
}

// TestCloseSaysWhetherTheServersWereTold: a session that is left to expire keeps its locks until
// then, and its program has to know. It has not ended before a server says so.
func TestCloseSaysWhetherTheServersWereTold(t *testing.T) {
	t.Run("told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // Close waits for 3 s at most, on a machine of any speed
			c, events := dialFake(t, newFakeServer(t), "zk1")
			expect(t, events, Connected)
			require.NoError(t, c.Close())
			require.NoError(t, c.Close(), "again")
			require.True(t, c.Ended())
		})
	})
	t.Run("the link is cut", func(t *testing.T) {
		server := newFakeServer(t)
		c, events := dialFake(t, server, "zk1")
		expect(t, events, Connected)
		server.set(func() { server.unreach = true })
		server.cut()
		expect(t, events, Disconnected)
		err := c.Close()
		require.ErrorIs(t, err, ErrSessionRemains)
		require.ErrorContains(t, err, "0x1234")
		require.ErrorContains(t, err, "40s")
		require.ErrorContains(t, err, "zk1:2181", "the last cause")
		require.Equal(t, err, c.Close(), "again")
		require.False(t, c.Ended())
	})
	t.Run("left to expire", func(t *testing.T) {
		c, events := dialFake(t, newFakeServer(t), "zk1")
		expect(t, events, Connected)
		require.ErrorIs(t, c.Abandon(), ErrSessionRemains)
		require.ErrorIs(t, c.Close(), ErrSessionRemains, "it cannot be told any more")
	})
	t.Run("expired", func(t *testing.T) {
		server := newFakeServer(t)
		c, events := dialFake(t, server, "zk1")
		expect(t, events, Connected)
		server.set(func() { server.session = 0 })
		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Expired)
		require.NoError(t, c.Close())
	})
}

// TestCloseWaitsOnANewConnection: a holder gives a new connection up on which a request has waited for a sixth of the
// session timeout. The answer that its session is closed takes longer, and is waited for.
func TestCloseWaitsOnANewConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, events := dialCommitting(t)
		beat(t, c)
		server.set(func() { server.grants, server.farewell = 4_000, 1200*time.Millisecond })
		server.cut()
		expect(t, events, Disconnected)
		expect(t, events, Connected)
		c.KeepLease(true)
		time.Sleep(200 * time.Millisecond)
		require.NoError(t, c.Close())
	})
}

func TestCloseWithAServerThatAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.grants = uint32(time.Hour.Milliseconds())
		c, events := dialFake(t, server, "zk1", WithSessionTimeout(time.Hour), WithDialer(stuckAfterHandshake(server)))
		expect(t, events, Connected)
		errs := make(chan error, 40)
		for range cap(errs) {
			go func() { errs <- c.SetData("/a", nil) }()
		}
		start := time.Now()
		require.ErrorIs(t, c.Close(), ErrSessionRemains)
		require.Less(t, time.Since(start), time.Minute, "not the hour of the session")
		for range cap(errs) {
			require.ErrorIs(t, <-errs, ErrClosed)
		}
	})
}

// stuckAfterHandshake gives connections whose writes block once the connect request has passed.
func stuckAfterHandshake(s *fakeServer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := s.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &stuckConn{Conn: conn, closed: make(chan struct{})}, nil
	}
}

type stuckConn struct {
	net.Conn
	greeted bool
	once    sync.Once
	closed  chan struct{}
}

func (c *stuckConn) Write(p []byte) (int, error) {
	if !c.greeted {
		c.greeted = true
		return c.Conn.Write(p)
	}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *stuckConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func TestCloseCancelsADial(t *testing.T) {
	dialing := make(chan struct{})
	var once sync.Once
	cfg, err := NewConfig("zk1", WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		once.Do(func() { close(dialing) })
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	require.NoError(t, err)
	c, err := Dial(cfg, 1, func(Event) {})
	require.NoError(t, err)
	<-dialing
	c.Close()
}

func TestLastErrorNamesTheServer(t *testing.T) {
	server := newFakeServer(t)
	server.unreach = true
	c, events := dialFake(t, server, "zk1")
	require.Eventually(t, func() bool { return c.LastError() != nil }, time.Minute, time.Millisecond)
	require.ErrorContains(t, c.LastError(), "zk1:2181")
	require.ErrorContains(t, c.LastError(), "unreachable for a test")
	require.Equal(t, 40*time.Second, c.SessionTimeout(), "what is asked for, as none was granted")
	server.set(func() { server.unreach = false })
	expect(t, events, Connected)
	require.NoError(t, c.LastError())
}

// A server that hangs up on the connect request may have older data than the client has seen. That
// is named where the client has seen any.
func TestLastErrorNamesOlderData(t *testing.T) {
	const quorum, older = "it may have no quorum", "its data may be older than what this client has seen (wiped or restored)"
	server := newFakeServer(t)
	server.hangsUp, server.handle = true, func(fakeRequest) fakeReply { return fakeReply{code: -101} }
	c, events := dialFake(t, server, "zk1")
	says := func(what string) {
		require.Eventually(t, func() bool {
			err := c.LastError()
			return err != nil && strings.Contains(err.Error(), what)
		}, time.Minute, time.Millisecond)
	}
	says(quorum)
	require.NotContains(t, c.LastError().Error(), older)
	server.set(func() { server.hangsUp = false })
	expect(t, events, Connected)
	_, _, err := c.Exists("/x") // the answer names a transaction
	require.NoError(t, err)
	server.set(func() { server.hangsUp = true })
	server.cut()
	says(older)
	require.ErrorContains(t, c.LastError(), quorum)
}

func TestASinkMayAsk(t *testing.T) {
	server := newFakeServer(t)
	cfg, err := NewConfig("zk1", WithDialer(server.dial))
	require.NoError(t, err)
	ready, asked := make(chan *Conn, 1), make(chan int64, 1)
	c, err := Dial(cfg, 1, func(Event) {
		c := <-ready
		_, _, _ = c.LastError(), c.SessionTimeout(), c.Epoch()
		asked <- c.SessionID()
	})
	require.NoError(t, err)
	ready <- c
	require.EqualValues(t, 0x1234, <-asked)
	c.Close()
}

func TestWatchEventsLoseTheChroot(t *testing.T) {
	server := newFakeServer(t)
	server.handle = func(r fakeRequest) fakeReply {
		return fakeReply{
			event: append([]byte{0, 0, 0, 3, 0, 0, 0, 3}, text("/base/a")...),
			body:  append(text("data"), statBody(5, 6, 1)...),
		}
	}
	c, events := dialFake(t, server, "zk1/base")
	expect(t, events, Connected)
	data, stat, err := c.GetWatched("/a")
	require.NoError(t, err)
	require.Equal(t, "data", string(data))
	require.Equal(t, Stat{
		Czxid: 5, Mzxid: 6, Pzxid: 77, EphemeralOwner: 0x1234, Version: 3, NumChildren: 1, DataLength: 5,
		Ctime: time.UnixMilli(1_700_000_000_000), Mtime: time.UnixMilli(1_700_000_000_001),
	}, stat)
	e := expect(t, events, NodeDataChanged)
	require.Equal(t, "/a", e.Path)
	require.EqualValues(t, 7, e.Epoch)
	_, _, err = c.Get("/a")
	require.NoError(t, err)
	gets := server.seen(opGetData)
	require.Equal(t, append(text("/base/a"), 1), gets[0].body)
	require.Equal(t, append(text("/base/a"), 0), gets[1].body, "a plain Get sets no watch")
}
