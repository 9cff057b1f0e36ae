package scene

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// System makes an actor system that logs nothing, and is shut down with the test.
func System(t testing.TB) *actor.ActorSystem {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
	Cleanup(t, func() {
		system.Shutdown()
		time.Sleep(time.Minute) // its throttle sleeps on for a while
	})
	return system
}

// SessionOver starts a session over a network. It is closed with the test.
func SessionOver(t testing.TB, system *actor.ActorSystem, over *Network, timeout time.Duration) *actors.Session {
	t.Helper()
	cfg, err := zkconn.NewConfig(over.Server.Connect(), zkconn.WithSessionTimeout(timeout), zkconn.WithDialer(over.Dial))
	require.NoError(t, err)
	session, err := actors.StartSession(system, cfg)
	require.NoError(t, err)
	CountRelists(t, session)
	Cleanup(t, func() { Closed(t, session.Close(context.WithoutCancel(t.Context()))) })
	return session
}

// Virtual runs an embedded server that needs no network and ticks once a second; it is stopped with the test.
func Virtual(t testing.TB, opts ...embedded.Option) *embedded.Server {
	t.Helper()
	return embedded.Run(t, append([]embedded.Option{embedded.WithoutNetwork(), embedded.WithTick(time.Second)}, opts...)...)
}

// Client opens a client of a server. It is closed before the bubble ends.
func Client(t *testing.T, server *embedded.Server, opts ...locks.Option) *locks.Client {
	t.Helper()
	return ClientAt(t, server, server.Connect(), opts...)
}

// ClientAt is Client with a connect string. The client needs no network.
func ClientAt(t *testing.T, server *embedded.Server, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), connect, append([]locks.Option{locks.WithDialer(server.DialContext),
		locks.WithSessionTimeout(10 * time.Second)}, opts...)...)
	require.NoError(t, err)
	CloseLater(t, client)
	return client
}

// ClientOver is Client by a network that has outages.
func ClientOver(t *testing.T, server *embedded.Server, d *Network, opts ...locks.Option) *locks.Client {
	t.Helper()
	return Client(t, server, append([]locks.Option{locks.WithDialer(d.Dial)}, opts...)...)
}

// Through opens a client of a server of its own, by a network that has outages.
func Through(t *testing.T, opts ...locks.Option) (*Network, *locks.Client) {
	t.Helper()
	d := &Network{Server: Virtual(t)}
	return d, ClientOver(t, d.Server, d, opts...)
}

// CloseLater closes a client before the bubble ends.
func CloseLater(t *testing.T, client *locks.Client) {
	t.Helper()
	CountRelists(t, client.Session())
	Cleanup(t, func() {
		Closed(t, client.Close(context.WithoutCancel(t.Context())))
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
}
