package zkconn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A predecessor's session is left to expire where SASL says nothing: each connect request would let it live for longer.
func TestCloseSessionWithSilentSASLLetsItExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.session, server.grants = strangerID, 4000
		server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} }
		cfg := closing(t, server.dial, WithSASL(&oath{password: "open"}), WithSessionTimeout(4*time.Second))
		type result struct {
			existed bool
			err     error
		}
		done := make(chan result, 1)
		go func() {
			existed, err := CloseSession(t.Context(), cfg, "h1,h2", strangerID, strangerPassword)
			done <- result{existed, err}
		}()
		time.Sleep(time.Second) // the first exchange has failed, and the session has less than its timeout left
		require.Len(t, server.asked(), 1)
		time.Sleep(4 * time.Second)
		require.Len(t, server.asked(), 1, "the servers have heard nothing of it for its timeout")
		server.set(func() { server.session = 0 }) // it has expired
		r := <-done
		require.NoError(t, r.err)
		require.True(t, r.existed)
		require.Len(t, server.asked(), 2)
	})
}

// A caller that gives up does not wait for that.
func TestCloseSessionGivesUpWhileItLetsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.session = strangerID
		server.handle = swears("another", codeAuthFailed, nil)
		cfg := closing(t, server.dial, WithSASL(&oath{password: "open"}))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := CloseSession(ctx, cfg, "h", strangerID, strangerPassword)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrAuthFailed)
		require.Equal(t, 3*time.Second, time.Since(begin))
	})
}
