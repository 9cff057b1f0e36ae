package guides_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// inBubble runs a test with a server and two clients on it, by a clock of its own.
func inBubble(t *testing.T, test func(t *testing.T, server *embedded.Server, one, other *locks.Client)) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		open := func() *locks.Client {
			opening, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client, err := locks.Open(opening, server.Connect(), locks.WithDialer(server.DialContext),
				locks.WithSessionTimeout(10*time.Second))
			require.NoError(t, err)
			t.Cleanup(func() {
				err := client.Close(context.WithoutCancel(t.Context()))
				require.True(t, err == nil || errors.Is(err, locks.ErrSessionRemains), "%v", err) // it was expired a moment ago
			})
			return client
		}
		test(t, server, open(), open())
	})
}

// The work stops when the servers end the session, and its error says that the lock was lost.
func TestWorkStopsWithTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, _ *locks.Client) {
		stopped := false
		err := locks.Do(t.Context(), client.Mutex("/jobs/nightly"), func(ctx context.Context, _ locks.Token) error {
			time.Sleep(10 * time.Minute) // of the bubble's clock
			for _, session := range server.Sessions() {
				require.NoError(t, server.Expire(session))
			}
			<-ctx.Done()
			stopped = true
			return ctx.Err()
		})
		require.ErrorIs(t, err, locks.ErrLost)
		require.True(t, stopped)
	})
}

// A program that is told to end gives the lock to the next one, which has a greater token.
func TestTheNextOneIsGranted(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		ctx, end := context.WithCancel(t.Context())
		first := make(chan locks.Token, 1)
		ended := make(chan error, 1)
		go func() {
			ended <- locks.Do(ctx, client.Mutex("/jobs/nightly"), func(ctx context.Context, token locks.Token) error {
				first <- token
				<-ctx.Done() // it works until it is told to end
				return nil
			})
		}()
		token := <-first
		time.AfterFunc(63*time.Second, end) // the other looks again by itself each ten seconds
		lease, err := other.Mutex("/jobs/nightly").Lock(t.Context())
		require.NoError(t, err)
		require.Greater(t, lease.Token(), token)
		<-ended
		require.NoError(t, lease.Unlock(t.Context()))
	})
}
