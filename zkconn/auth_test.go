package zkconn

import (
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestConnectedOnlyOnceCredentialsAreAccepted(t *testing.T) {
	server := newFakeServer(t)
	hold := make(chan struct{})
	server.handle = func(r fakeRequest) fakeReply {
		if r.op == opSetAuth {
			<-hold
		}
		return fakeReply{}
	}
	_, events := dialFake(t, server, "zk1", WithAuth("digest", []byte("u:p")), WithAuth("ip", nil))
	require.Eventually(t, func() bool { return len(server.seen(opSetAuth)) == 1 }, minute, tick)
	require.Empty(t, events)
	close(hold)
	expect(t, events, Connected)
	require.Len(t, server.seen(opSetAuth), 2)

	server.cut()
	expect(t, events, Disconnected)
	expect(t, events, Connected)
	require.Eventually(t, func() bool { return len(server.seen(opSetAuth)) == 4 }, minute, tick, "the library presents them again")
}

func TestCredentialsCutUnderWayArePresentedAgain(t *testing.T) {
	server := newFakeServer(t)
	var presented atomic.Int32
	server.handle = func(r fakeRequest) fakeReply {
		lost := r.op == opSetAuth && presented.Add(1) <= 5
		return fakeReply{silent: lost, cut: lost}
	}
	c, events := dialFake(t, server, "zk1", WithAuth("digest", []byte("u:p")))
	expect(t, events, Connected) // and no Disconnected, for it was not connected before
	require.NoError(t, c.Sync("/a"))
	require.Empty(t, events)
}

func TestRefusedCredential(t *testing.T) {
	server := newFakeServer(t)
	var refusals atomic.Int32
	server.handle = func(r fakeRequest) fakeReply {
		if r.op == opSetAuth && refusals.Add(1) <= 3 {
			return fakeReply{code: codeAuthFailed, cut: true}
		}
		return fakeReply{}
	}
	c, events := dialFake(t, server, "zk1", WithAuth("nosuch", []byte("x")))
	for range 3 {
		e := expect(t, events, AuthFailed)
		require.ErrorIs(t, e.Err, ErrAuthFailed)
		require.ErrorIs(t, e.Err, zk.ErrAuthFailed)
		require.ErrorContains(t, e.Err, "zk1:2181")
	}
	expect(t, events, Connected)
	require.NoError(t, c.LastError())
}

// A server that refuses but does not hang up must not leave the connection waiting for ever.
func TestRefusedCredentialWithoutHangup(t *testing.T) {
	server := newFakeServer(t)
	var refusals atomic.Int32
	server.handle = func(r fakeRequest) fakeReply {
		if r.op == opSetAuth && refusals.Add(1) == 1 {
			return fakeReply{code: codeAuthFailed}
		}
		return fakeReply{}
	}
	_, events := dialFake(t, server, "zk1", WithAuth("nosuch", []byte("x")))
	expect(t, events, AuthFailed)
	expect(t, events, Connected)
}

func TestCredentialRefusedAtAReconnect(t *testing.T) {
	server := newFakeServer(t)
	var refuse atomic.Bool
	server.handle = func(r fakeRequest) fakeReply {
		if r.op == opSetAuth && refuse.Load() {
			return fakeReply{code: codeAuthFailed, cut: true}
		}
		return fakeReply{}
	}
	c, events := dialFake(t, server, "zk1", WithAuth("digest", []byte("u:p")))
	expect(t, events, Connected)
	refuse.Store(true)
	server.cut()
	expect(t, events, Disconnected)
	expect(t, events, Connected)
	expect(t, events, AuthFailed)
	e := expect(t, events, Disconnected)
	require.ErrorIs(t, e.Err, ErrAuthFailed, "says more than that the connection ended")
	c.Close()
}

func TestCloseWhileCredentialsAreUnderWay(t *testing.T) {
	server := newFakeServer(t)
	server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} }
	c, events := dialFake(t, server, "zk1", WithAuth("digest", []byte("u:p")))
	require.Eventually(t, func() bool { return len(server.seen(opSetAuth)) == 1 }, minute, tick)
	c.Close()
	require.Empty(t, events)
	require.Len(t, server.seen(opClose), 1)
}
