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
		w, _, err := greet(s.Addr(), newcomer())
		require.NoError(t, err)
		defer w.close()
		for err == nil { // for as long as the test may take
			w.write(tokenOf(""))
			_, err = w.read()
			time.Sleep(50 * time.Millisecond)
		}
		require.Equal(t, "closed", ending(err))
	})
}
