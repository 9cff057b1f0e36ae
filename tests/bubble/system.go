// Package bubble is for tests of actors in virtual time (testing/synctest) on the embedded server. It has actor systems
// that end with their bubble, and lines between sessions and the server that can be cut.
package bubble

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/tests/patient"
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
