package matrix

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

const (
	// long is a session timeout under which a machine that is merely slow loses no lease.
	long = 30 * time.Second
	// bound bounds a wait of a test that runs by the real clock, on a machine of any speed.
	bound = 3 * time.Minute
)

// bounded is a context for a wait by the real clock.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

// openReal opens a client over the network, which is closed with the test.
func openReal(t *testing.T, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	client, err := locks.Open(bounded(t), connect, opts...)
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() {
		if err := client.Close(context.Background()); !errors.Is(err, locks.ErrSessionRemains) { // the fault may last
			require.NoError(t, err)
		}
	})
	return client
}
