package leases

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestOpenWarnsOfServers: a program that opens a client without a deadline, and has a host wrong, stands still. It is told
// once, after a session timeout, by the log that there is, which names the servers and the cause.
func TestOpenWarnsOfServers(t *testing.T) {
	noHost := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no such host") }
	for name, c := range map[string]struct {
		set, own bool
		warnings int
	}{
		"the program's log":      {warnings: 1},
		"a logger":               {own: true, warnings: 1},
		"a logger that discards": {set: true},
	} {
		t.Run(name, func(t *testing.T) {
			log := &stories.Log{Handler: slog.DiscardHandler}
			logger := slog.New(log)
			opts := []locks.Option{locks.WithDialer(noHost), locks.WithSessionTimeout(10 * time.Second)}
			switch before := slog.Default(); {
			case c.set:
				opts = append(opts, locks.WithLogger(slog.New(slog.DiscardHandler)))
				fallthrough
			case !c.own:
				slog.SetDefault(logger)
				t.Cleanup(func() { slog.SetDefault(before) })
			default:
				opts = append(opts, locks.WithLogger(logger))
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := locks.Open(ctx, "zk.exmaple.org:2181", opts...)
					ended <- err
				}()
				told := func() int { return log.Count("no session yet") }
				time.Sleep(9 * time.Second)
				require.Zero(t, told())
				time.Sleep(5 * time.Minute)
				require.Equal(t, c.warnings, told())
				if c.warnings > 0 {
					require.True(t, log.Has("no session yet: no server can be reached server=zk.exmaple.org:2181 error="))
					require.True(t, log.Has("no such host"))
				}
				cancel()
				require.ErrorIs(t, <-ended, context.Canceled)
				time.Sleep(time.Minute)
			})
		})
	}
}

// TestOpenDoesNotWarnInVain: where there is a session in time nothing is said, however long the client lives.
func TestOpenDoesNotWarnInVain(t *testing.T) {
	log := &stories.Log{Handler: slog.DiscardHandler}
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
			locks.WithLogger(slog.New(log)))
		require.NoError(t, err)
		bubble.CloseLater(t, client)
		time.Sleep(time.Hour)
	})
	require.False(t, log.Has("no session yet"))
}
