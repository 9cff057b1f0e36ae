package activation_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// BenchmarkServe: what a message costs with a lock before it, and without.
func BenchmarkServe(b *testing.B) {
	server := embedded.Run(b)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	defer system.Shutdown()
	cfg, err := zkconn.NewConfig(server.Connect())
	if err != nil {
		b.Fatal(err)
	}
	session, err := actors.StartSession(system, cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close(context.Background())
	for name, opts := range map[string][]actor.PropsOption{
		"without": nil,
		"guarded": {activation.Single(session, activation.At(messages.Acquire{Path: "/bench"}))},
	} {
		b.Run(name, func(b *testing.B) {
			served := make(chan struct{})
			pid := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
				if ctx.Message() == "last" {
					served <- struct{}{}
				}
			}, opts...))
			system.Root.Send(pid, "last")
			<-served
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				system.Root.Send(pid, "more")
			}
			system.Root.Send(pid, "last")
			<-served
			b.StopTimer()
			_ = system.Root.StopFuture(pid).Wait()
		})
	}
}
