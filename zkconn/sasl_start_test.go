package zkconn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/snapshot"
)

// Where the mechanism has nothing to begin with, servers are asked for nothing: no session lives longer for it.
func TestSASLThatCannotStart(t *testing.T) {
	for name, mechanism := range map[string]func(fails func() error) *oath{
		"Start": func(fails func() error) *oath {
			return &oath{password: "open", start: func(context.Context, SASLServer) error { return fails() }}
		},
		"Initial": func(fails func() error) *oath { return &oath{password: "open", first: fails} },
	} {
		for _, final := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, final %t", name, final), func(t *testing.T) {
				server := newFakeServer(t)
				server.handle = swears("open", 0, nil)
				var down atomic.Bool
				cause := errors.New("no ticket")
				if final {
					cause = fmt.Errorf("%w: no such principal", ErrAuthFailed)
				}
				c, events := dialFake(t, server, "zk1,zk2", WithSASL(mechanism(func() error {
					if down.Load() {
						return cause
					}
					return nil
				})))
				expect(t, events, Connected)
				down.Store(true)
				server.cut()
				expect(t, events, Disconnected)
				require.Eventually(t, func() bool { return errors.Is(c.LastError(), cause) }, minute, tick)
				require.ErrorContains(t, c.LastError(), "alice")
				if final {
					e := expect(t, events, AuthFailed)
					require.ErrorIs(t, e.Err, ErrAuthFailed)
					require.ErrorContains(t, e.Err, "no such principal")
				}
				require.Len(t, server.asked(), 1, "no connect request")
				down.Store(false)
				e := nextEvent(t, events)
				for e.Kind == AuthFailed && final {
					e = nextEvent(t, events)
				}
				require.Equal(t, Connected, e.Kind)
			})
		}
	}
}

// The time for tickets is bounded, and Close does not wait for it.
func TestSASLStartIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		bounds := make(chan time.Duration, 100)
		c, events := dialFake(t, server, "zk1", WithSASL(&oath{start: func(ctx context.Context, _ SASLServer) error {
			start := time.Now()
			<-ctx.Done()
			bounds <- time.Since(start)
			return ctx.Err()
		}}))
		require.Equal(t, 5*time.Second, <-bounds)
		synctest.Wait()
		require.ErrorIs(t, c.LastError(), context.DeadlineExceeded)
		time.Sleep(time.Second)
		start := time.Now()
		_ = c.Close()
		require.Less(t, time.Since(start), 2*time.Second)
		require.Empty(t, events)
		require.Empty(t, server.asked())
	})
}

func TestTimeForTickets(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		time.Minute: 5 * time.Second, 6 * time.Second: 2 * time.Second, 10 * time.Millisecond: shortestHandshake,
	} {
		cfg, err := NewConfig("h", WithSessionTimeout(timeout))
		require.NoError(t, err)
		require.Equal(t, want, cfg.ticketTimeout())
	}
}

func TestSASLIsNotPrinted(t *testing.T) {
	const password = "tr0ub4dor"
	server := newFakeServer(t)
	server.handle = swears(password, 0, nil)
	c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: password}))
	expect(t, events, Connected)
	require.Contains(t, c.cfg.String(), "SASL: true")
	if err := c.Close(); !errors.Is(err, ErrSessionRemains) { // which a busy machine may cause
		require.NoError(t, err)
	}
	require.Empty(t, snapshot.FindText(&c.cfg, password))
	require.NotContains(t, fmt.Sprintf("%+v %#v %s", &c.cfg, c.cfg, []any{c.cfg}), password)
}

func TestSASLOptions(t *testing.T) {
	for _, opt := range []Option{WithSASL(nil), WithSASL(nameless{}), WithAuth("sasl", []byte("u:p"))} {
		_, err := NewConfig("h", opt)
		require.ErrorIs(t, err, ErrBadConfig)
	}
	_, err := NewConfig("h", WithACL(CreatorACL()...))
	require.ErrorIs(t, err, ErrBadConfig, "nobody to be")
	_, err = NewConfig("h", WithACL(CreatorACL()...), WithSASL(&oath{}))
	require.NoError(t, err)
	require.Equal(t, ACL{Perms: 1, Scheme: "sasl", ID: "bob"}, SASLACL(1, "bob"))
}

type nameless struct{ *oath }

func (nameless) Name() string { return "" }
