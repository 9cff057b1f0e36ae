package tests

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// deadAddress is one that nobody listens at.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// A dead ensemble: Open returns within its ctx with an error that names the servers and the last
// cause, and leaves nothing running. It needs no server.
func TestOpenOnDeadEnsemble(t *testing.T) {
	before := goleak.IgnoreCurrent()
	one, two := deadAddress(t), deadAddress(t)
	for within := 500 * time.Millisecond; ; within *= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		client, err := locks.Open(ctx, one+","+two+"/app")
		cancel()
		require.Nil(t, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, one)
		require.ErrorContains(t, err, two)
		if strings.Contains(err.Error(), "connection refused") {
			break
		}
		require.Less(t, within, bound, "no dial was refused in time: %v", err)
	}
	require.NoError(t, leaked(before))
}

// A server that takes connections and never answers is dead too.
func TestOpenOnSilentServer(t *testing.T) {
	before := goleak.IgnoreCurrent()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, err = locks.Open(ctx, silent.Addr().String())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, silent.Addr().String())
	require.NoError(t, leaked(before))
}

// The ensemble goes while a client is open: Lock returns within its ctx, with the servers and the last
// cause; Unlock within its own; Close ends everything.
func TestLockOnDeadEnsemble(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		log, logger := hearing()
		client, err := locks.Open(deadline(t), proxy.Addr()+zk.Root(), locks.WithSessionTimeout(long), logger)
		require.NoError(t, err)
		held, err := client.Mutex("/held").Lock(deadline(t))
		require.NoError(t, err)
		mutex, rec := recorded(t, client, "/dead")

		proxy.Close()
		eventually(t, func() bool {
			cause := client.State().Cause
			return cause != nil && strings.Contains(cause.Error(), "connection refused")
		}, "no dial is refused")
		ctx := newExpiring(context.Background())
		got := elsewhere(ctx, mutex.Lock)
		await(t, rec, messages.StateCreating)
		ctx.pass()
		err = receive(t, got).err
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, proxy.Addr())
		require.ErrorContains(t, err, "connection refused")
		require.ErrorContains(t, err, "/dead")
		require.ErrorIs(t, held.Unlock(ctx), context.DeadlineExceeded)

		err = client.Close(context.WithoutCancel(deadline(t)))
		require.ErrorIs(t, err, locks.ErrSessionRemains)
		require.True(t, log.has("session not closed at the servers"))
		require.Equal(t, err, client.Close(deadline(t)), "again")
		_, err = mutex.Lock(deadline(t))
		require.ErrorIs(t, err, locks.ErrClosed)
		eventually(t, func() bool {
			states := rec.States()
			return len(states) > 0 && states[len(states)-1].Terminal()
		}, "the request never ended")
		require.NotContains(t, rec.States(), messages.StateHeld)
	})
}

// Every server is killed, and later started again: who waited is served.
func TestServerComesBack(t *testing.T) {
	eachControlled(t, 1, func(t *testing.T, servers controlled) {
		client := open(t, servers.connect, locks.WithSessionTimeout(10*time.Second))
		holder, err := client.Mutex("/back").Lock(deadline(t))
		require.NoError(t, err)
		mutex, rec := recorded(t, client, "/back")
		got := elsewhere(deadline(t), mutex.Lock)
		await(t, rec, messages.StateWatching)

		server := servers.leader(t)
		require.NoError(t, server.Kill())
		await(t, rec, messages.StateRecovering)
		<-holder.Context().Done() // no server can prove that the session lives
		require.NoError(t, server.Restart(deadline(t)))
		a := receive(t, got)
		require.NoError(t, a.err)
		require.Greater(t, a.lease.Token(), holder.Token())
	})
}

// The leader is killed: the sessions go on with the others, and so do the locks.
func TestLeaderIsKilled(t *testing.T) {
	eachControlled(t, 3, func(t *testing.T, servers controlled) {
		var clients []*locks.Client
		for range 3 {
			clients = append(clients, open(t, servers.connect, locks.WithSessionTimeout(30*time.Second)))
		}
		seen := &witness{}
		round := func() {
			for _, client := range clients {
				lease, err := client.Mutex("/leader").Lock(deadline(t))
				require.NoError(t, err)
				require.NoError(t, seen.enter(lease))
				seen.leave()
				require.NoError(t, lease.Unlock(deadline(t)))
			}
		}
		round()
		leader := servers.leader(t)
		require.NoError(t, leader.Kill())
		round()
		require.NoError(t, leader.Restart(deadline(t)))
		round()
		for i := 1; i < len(seen.tokens); i++ {
			require.Greater(t, seen.tokens[i], seen.tokens[i-1])
		}
	})
}
