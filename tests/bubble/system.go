// Package bubble is for tests of actors in virtual time (testing/synctest) on the embedded server. It has actor systems
// that end with their bubble, and lines between sessions and the server that can be cut.
package bubble

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// System makes an actor system that logs nothing, and is shut down with the test.
func System(t testing.TB) *actor.ActorSystem {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
	patient.Cleanup(t, func() {
		system.Shutdown()
		time.Sleep(time.Minute) // its throttle sleeps on for a while
	})
	return system
}

// Session starts a session over a network. It is closed with the test.
func Session(t testing.TB, system *actor.ActorSystem, over *Network, timeout time.Duration) *actors.Session {
	t.Helper()
	cfg, err := zkconn.NewConfig(over.Server.Connect(), zkconn.WithSessionTimeout(timeout), zkconn.WithDialer(over.Dial))
	require.NoError(t, err)
	session, err := actors.StartSession(system, cfg)
	require.NoError(t, err)
	relists.Count(t, session)
	patient.Cleanup(t, func() { patient.Closed(t, session.Close(context.WithoutCancel(t.Context()))) })
	return session
}
