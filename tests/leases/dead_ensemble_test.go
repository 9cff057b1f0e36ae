package leases

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestOpenOnDeadEnsemble: no server takes connections, or one takes them and never answers. Open returns within its ctx with
// an error that names the servers and the last cause, and leaves nothing running: the bubble would not end.
func TestOpenOnDeadEnsemble(t *testing.T) {
	for cause, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"connection refused": func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") },
		"": func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			return near, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := locks.Open(ctx, "one:1,two:2/app", locks.WithDialer(dial))
			require.LessOrEqual(t, time.Since(begun), 1500*time.Millisecond, "and a second for what it has begun")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			for _, part := range []string{"one:1", "two:2", cause} {
				require.ErrorContains(t, err, part)
			}
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		})
	}
}

// TestLockOnDeadEnsemble: the ensemble goes while a client is open. Lock returns within its ctx, with the servers and the
// last cause; Unlock within its own; Close ends everything.
func TestLockOnDeadEnsemble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		held := scene.Locked(t, client.Mutex("/held").Lock)
		mutex, rec := scene.Recorded(t, client, "/dead")
		d.Be(scene.Down)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := mutex.Lock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		for _, part := range []string{d.Server.Addr(), "connection refused", "/dead"} {
			require.ErrorContains(t, err, part)
		}
		require.ErrorIs(t, held.Unlock(ctx), context.DeadlineExceeded)
		require.ErrorIs(t, client.Close(context.WithoutCancel(ctx)), locks.ErrSessionRemains)
		_, err = mutex.Lock(t.Context())
		require.ErrorIs(t, err, locks.ErrClosed)
		synctest.Wait()
		states := rec.States()
		require.True(t, states[len(states)-1].Terminal())
		require.NotContains(t, states, messages.StateHeld)
	})
}

// TestServerComesBack: every server is killed, and later started again. Who waited is served.
func TestServerComesBack(t *testing.T) {
	scene.EachControlled(t, 1, func(t *testing.T, servers scene.Controlled) {
		client := scene.Open(t, servers.Connect, locks.WithSessionTimeout(10*time.Second))
		holder := scene.Locked(t, client.Mutex("/back").Lock)
		mutex, rec := scene.Recorded(t, client, "/back")
		got := scene.Elsewhere(scene.Deadline(t), mutex.Lock)
		scene.Await(t, rec, messages.StateWatching)

		server := servers.Leader(t)
		require.NoError(t, server.Kill())
		scene.Await(t, rec, messages.StateRecovering)
		<-holder.Context().Done() // no server can prove that the session lives
		require.NoError(t, server.Restart(scene.Deadline(t)))
		a := scene.Receive(t, got)
		require.NoError(t, a.Err)
		require.Greater(t, a.Lease.Token(), holder.Token())
	})
}

// TestLeaderIsKilled: the sessions go on with the others, and so do the locks.
func TestLeaderIsKilled(t *testing.T) {
	scene.EachControlled(t, 3, func(t *testing.T, servers scene.Controlled) {
		sessions := map[*locks.Client]int64{}
		for range 3 {
			client := scene.Open(t, servers.Connect, locks.WithSessionTimeout(30*time.Second))
			sessions[client] = client.Session().ID()
		}
		var tokens []messages.Token
		round := func() {
			for client, session := range sessions {
				_, token := scene.Cycle(t, client.Mutex("/leader"))
				tokens = append(tokens, token)
				require.Equal(t, session, client.Session().ID())
			}
		}
		round()
		leader := servers.Leader(t)
		require.NoError(t, leader.Kill())
		round()
		require.NoError(t, leader.Restart(scene.Deadline(t)))
		round()
		require.IsIncreasing(t, tokens)
	})
}
