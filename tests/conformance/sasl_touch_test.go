package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A client that sends nothing but SASL requests, which are answered, loses its session: they touch nothing. So they
// are no evidence that it lives.
func TestSASLTouchesNothing(t *testing.T) {
	const timeout = 2 * time.Second
	both{
		real: func(t testing.TB) server {
			return rig.StartStandalone(t, rig.WithMinSessionTimeout(timeout), rig.WithMaxSessionTimeout(timeout))
		},
		embedded: func(t testing.TB) server {
			return embedded.Run(t, embedded.WithTick(200*time.Millisecond), embedded.WithSessionTimeouts(timeout, timeout))
		},
	}.each(t, func(t *testing.T, s server) {
		require.Equal(t, "closed", keepsAsking(t, s.Addr(), tokenOf(""), time.Minute))
	})
}

// keepsAsking sends a request each time that the one before is answered, until the server closes the connection or
// time is up.
func keepsAsking(t *testing.T, addr string, request []byte, limit time.Duration) string {
	t.Helper()
	w, _, err := greet(addr, newcomer())
	require.NoError(t, err)
	defer w.close()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		w.write(request)
		if _, err := w.read(); err != nil {
			return ending(err)
		}
	}
	return "open"
}
