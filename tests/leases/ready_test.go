package leases

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
)

// TestReadyFallsOnce: a server stops, as with SIGSTOP, at each of many moments. The client becomes unready once, no
// later than a fifth of its session timeout after the first request that has no answer, and before its lease is over.
// It stays so until a server answers, through the loss of the connection and of the session.
func TestReadyFallsOnce(t *testing.T) {
	const timeout = 10 * time.Second
	for _, c := range []struct {
		name  string
		holds bool
		opts  []locks.Option
		every time.Duration // between two requests of a client
	}{
		{"a holder", true, nil, timeout / 6},
		{"idle", false, nil, timeout / 5},
		{"idle, without syncs", false, []locks.Option{locks.WithoutIdleSyncs()}, timeout / 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for at := range 10 {
				synctest.Test(t, func(t *testing.T) {
					server := bubble.Server(t)
					client, err := locks.Open(t.Context(), server.Connect(), append(c.opts,
						locks.WithDialer(server.DialContext), locks.WithSessionTimeout(timeout))...)
					require.NoError(t, err)
					bubble.CloseLater(t, client)
					valid := func() bool { return true }
					if c.holds {
						lease := bubble.Locked(t, client.Mutex("/ready").Lock)
						valid = lease.Valid
					}
					time.Sleep(time.Minute + time.Duration(at)*timeout/20)
					require.NoError(t, client.Ready())

					stopped := time.Now()
					server.Leader().Pause()
					var fell time.Duration
					for since := time.Duration(0); since < 3*timeout; since = time.Since(stopped) {
						ready := client.Ready()
						switch {
						case fell != 0:
							require.Error(t, ready, "ready again after %v, unready since %v", since, fell)
						case ready != nil:
							fell = since
							require.ErrorContains(t, ready, "no server answers for ")
							require.NotContains(t, ready.Error(), "\n")
						default:
							require.True(t, valid(), "ready after %v, with a lease that is over", since)
						}
						time.Sleep(50 * time.Millisecond)
					}
					require.GreaterOrEqual(t, fell, timeout/5)
					require.LessOrEqual(t, fell, timeout/5+c.every+200*time.Millisecond)
					server.Leader().Resume()
					time.Sleep(timeout)
					require.NoError(t, client.Ready())
				})
			}
		})
	}
}
