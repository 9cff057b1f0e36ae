package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A gateway over a session, and a client that asks it for locks. Here both run in one actor system; a
// client on another node names the gateway with its address, actor.NewPID("10.0.0.1:8090", "locks"),
// and both systems have a remote.
func ExampleOpen() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))
	defer system.Shutdown()

	with, err := locks.Open(ctx, server.Connect(), locks.WithActorSystem(system))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer with.Close(ctx)
	if _, err := gateway.Spawn(system, with.Session(), "locks"); err != nil {
		fmt.Println(err)
		return
	}

	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := gateway.Open(opening, system, gateway.At(actor.NewPID(system.Address(), "locks")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	lease, err := client.Mutex("/jobs/nightly").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held:", lease.Path(), lease.Valid())
	fmt.Println("released:", lease.Unlock(ctx))
	// Output:
	// held: /jobs/nightly true
	// released: <nil>
}
