// Command actors uses locks from an actor: a foreman spawns two lock actors as its children, for
// one lock path. The first holds; the second waits; the first is asked to give the lock back, does
// so, and the second holds. The foreman checks that it hears exactly these events. The program
// brings its own server unless it is given one.
//
//	go run ./examples/actors
//	go run ./examples/actors -zk 127.0.0.1:2181
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/examples/printing"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

type settings struct {
	servers string
	path    string
	work    time.Duration
	limit   time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.servers, "zk", "", "servers, like host:2181,host:2181/chroot; none: one inside this program")
	flag.StringVar(&s.path, "path", "/turnstile/actors", "the lock path")
	flag.DurationVar(&s.work, "work", 20*time.Millisecond, "how long a holder works on after it was asked to give back")
	flag.DurationVar(&s.limit, "limit", time.Minute, "give up after this long")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "actors: %q is no flag; -zk names the servers\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "actors:", err)
		os.Exit(1)
	}
	fmt.Println("ok: the first held, was asked and gave back, and only then the second held, with a greater token")
}

// run starts what an actor program needs, lets the foreman work, and stops it all again. A session that
// cannot be closed in order is an error too.
func run(s settings) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	if s.servers == "" {
		server, err := embedded.Start()
		if err != nil {
			return err
		}
		defer server.Close()
		s.servers = server.Addr()
		fmt.Printf("no -zk: on a server of its own at %s, in memory\n", s.servers)
	}
	cfg, err := zkconn.NewConfig(s.servers, zkconn.WithSessionTimeout(10*time.Second))
	if err != nil {
		return err
	}
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
	defer system.Shutdown()
	session, err := actors.StartSession(system, cfg)
	if err != nil {
		return err
	}
	defer func() {
		// ctx may have ended. Closing takes a few seconds at most, also when no server answers.
		err = errors.Join(err, session.Close(context.WithoutCancel(ctx)))
	}()
	if err := session.Ready(ctx); err != nil {
		return err
	}
	prints := printing.New(os.Stdout, "lock")
	verdict := make(chan error, 1)
	foreman := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return &foreman{from: session, settings: s, prints: prints, verdict: verdict}
	}))
	defer prints.Flush(ctx)
	// And with it its lock actors, whose nodes the session deletes. It is waited for: the session ends
	// lock actors, too, and protoactor logs a dead letter where an actor stops a child that has ended.
	defer func() { _ = system.Root.StopFuture(foreman).Wait() }()
	select {
	case err := <-verdict:
		return err
	case <-ctx.Done():
		return fmt.Errorf("not done after %v: %w", s.limit, ctx.Err())
	}
}
