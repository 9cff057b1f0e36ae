package leases

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
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// A dead ensemble: Open returns within its ctx with an error that names the servers and the last
// cause, and leaves nothing running. It needs no server.
func TestOpenOnDeadEnsemble(t *testing.T) {
	before := goleak.IgnoreCurrent()
	one, two := stories.DeadAddress(t), stories.DeadAddress(t)
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
		require.Less(t, within, patient.Bound, "no dial was refused in time: %v", err)
	}
	require.NoError(t, stories.Leaked(before))
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
	require.NoError(t, stories.Leaked(before))
}

// The ensemble goes while a client is open: Lock returns within its ctx, with the servers and the last
// cause; Unlock within its own; Close ends everything.
func TestLockOnDeadEnsemble(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		log, logger := stories.NewLog()
		client, err := locks.Open(patient.Deadline(t), proxy.Addr()+zk.Root(),
			locks.WithSessionTimeout(patient.Session), logger)
		require.NoError(t, err)
		relists.Count(t, client.Session())
		held := patient.Locked(t, client.Mutex("/held").Lock)
		mutex, rec := patient.Recorded(t, client, "/dead")

		proxy.Close()
		patient.Eventually(t, func() bool {
			cause := client.State().Cause
			return cause != nil && strings.Contains(cause.Error(), "connection refused")
		}, "no dial is refused")
		ctx := patient.NewExpiring(context.Background())
		got := patient.Elsewhere(ctx, mutex.Lock)
		patient.Await(t, rec, messages.StateCreating)
		ctx.Pass()
		err = patient.Receive(t, got).Err
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, proxy.Addr())
		require.ErrorContains(t, err, "connection refused")
		require.ErrorContains(t, err, "/dead")
		require.ErrorIs(t, held.Unlock(ctx), context.DeadlineExceeded)

		err = client.Close(context.WithoutCancel(patient.Deadline(t)))
		require.ErrorIs(t, err, locks.ErrSessionRemains)
		log.Await(t, "session not closed at the servers")
		require.Equal(t, err, client.Close(patient.Deadline(t)), "again")
		_, err = mutex.Lock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrClosed)
		patient.Eventually(t, func() bool {
			states := rec.States()
			return len(states) > 0 && states[len(states)-1].Terminal()
		}, "the request never ended")
		require.NotContains(t, rec.States(), messages.StateHeld)
	})
}

// Every server is killed, and later started again: who waited is served.
func TestServerComesBack(t *testing.T) {
	stories.EachControlled(t, 1, func(t *testing.T, servers stories.Controlled) {
		client := patient.Open(t, servers.Connect, locks.WithSessionTimeout(10*time.Second))
		holder := patient.Locked(t, client.Mutex("/back").Lock)
		mutex, rec := patient.Recorded(t, client, "/back")
		got := patient.Elsewhere(patient.Deadline(t), mutex.Lock)
		patient.Await(t, rec, messages.StateWatching)

		server := servers.Leader(t)
		require.NoError(t, server.Kill())
		patient.Await(t, rec, messages.StateRecovering)
		<-holder.Context().Done() // no server can prove that the session lives
		require.NoError(t, server.Restart(patient.Deadline(t)))
		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		require.Greater(t, a.Lease.Token(), holder.Token())
	})
}

// The leader is killed: the sessions go on with the others, and so do the locks.
func TestLeaderIsKilled(t *testing.T) {
	stories.EachControlled(t, 3, func(t *testing.T, servers stories.Controlled) {
		var clients []*locks.Client
		for range 3 {
			clients = append(clients, patient.Open(t, servers.Connect, locks.WithSessionTimeout(30*time.Second)))
		}
		seen := &patient.Witness{}
		round := func() {
			for _, client := range clients {
				lease := patient.Locked(t, client.Mutex("/leader").Lock)
				require.NoError(t, seen.Enter(lease))
				seen.Leave()
				patient.GiveBack(t, lease)
			}
		}
		round()
		leader := servers.Leader(t)
		require.NoError(t, leader.Kill())
		round()
		require.NoError(t, leader.Restart(patient.Deadline(t)))
		round()
		for i := 1; i < len(seen.Tokens); i++ {
			require.Greater(t, seen.Tokens[i], seen.Tokens[i-1])
		}
	})
}
