//go:build !race

// protoactor's provider has data races of its own, when it starts and when it is shut down.

package grain_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	provider "github.com/asynkron/protoactor-go/cluster/clusterproviders/zk"
	"github.com/asynkron/protoactor-go/cluster/identitylookup/disthash"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A member of a cluster whose members and locks are in one ensemble. Others start in the same way; those
// without a session leave the kind out.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	zk.DefaultLogger = log.New(io.Discard, "", 0) // the provider's client writes to standard error
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))

	cfg, err := zkconn.NewConfig(server.Connect())
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := actors.StartSession(system, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	members, err := provider.New(server.Addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	c := cluster.New(system, cluster.Configure("shop", members, disthash.New(),
		remote.Configure("127.0.0.1", 0, gateway.WithRecovery(quiet)), cluster.WithKinds(grain.Kind(session))))
	c.StartMember()

	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := gateway.Open(opening, system, grain.At(c))
	if err != nil {
		fmt.Println(err)
		return
	}
	lease, err := client.Mutex("/jobs/nightly").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held:", lease.Path(), lease.Valid(), lease.Session() == session.ID())
	fmt.Println("released:", lease.Unlock(ctx))
	fmt.Println("closed:", client.Close(ctx))
	if err := members.Shutdown(true); err != nil { // leave, and then close the session
		fmt.Println(err)
	}
	fmt.Println("closed:", session.Close(ctx))
	system.Shutdown()
	// Output:
	// held: /jobs/nightly true true
	// released: <nil>
	// closed: <nil>
	// closed: <nil>
}
