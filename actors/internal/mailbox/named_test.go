package mailbox_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
)

// TestMailbox: messages come to a name over and over while its actor is spawned. The first thing that the actor hears is
// actor.Started, and the race detector finds nothing. (With the actor system's own mailbox it does.)
func TestMailbox(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	defer system.Shutdown()
	for range 300 {
		var first any
		heard, stop, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		props := actor.PropsFromFunc(func(c actor.Context) {
			switch message := c.Message(); {
			case first == nil:
				first = message
			case message == "early":
				select {
				case <-heard:
				default:
					close(heard)
				}
			}
		}, actor.WithMailbox(mailbox.Named))
		go func() {
			defer close(ended)
			for pid := system.NewLocalPID("known"); ; {
				select {
				case <-stop:
					return
				default:
					system.Root.Send(pid, "early")
				}
			}
		}()
		pid, err := system.Root.SpawnNamed(props, "known")
		require.NoError(t, err)
		<-heard
		close(stop)
		<-ended
		require.NoError(t, system.Root.StopFuture(pid).Wait())
		require.IsType(t, &actor.Started{}, first)
	}
}
