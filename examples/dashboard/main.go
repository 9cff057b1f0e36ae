// Command dashboard serves a page that shows the locks of a ZooKeeper ensemble as they move: who
// holds, with what token and for how long, and who waits. It also shows what has just happened, and
// which locks are stuck in a deadlock. With a token one can ask a holder to give its lock back.
//
//	go run ./examples/dashboard -demo
//	go run ./examples/dashboard -zk zk1:2181,zk2:2181 -root /app/locks
//	go run ./examples/dashboard -zk zk1:2182 -tls-ca ca.pem -auth @credential -revoke-token-file token
//
// The files of -tls-ca, -tls-cert and -tls-key are read at each handshake: replace them while it runs.
//
// It listens on loopback by default, and has neither TLS nor passwords. For others to reach it, put
// a proxy with both before it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/examples/dashboard/demo"
	"github.com/turnstile-locks/turnstile/examples/dashboard/look"
	"github.com/turnstile-locks/turnstile/examples/dashboard/web"
	"github.com/turnstile-locks/turnstile/locks"
)

func main() {
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if err == nil {
		err = run(stopped, s, os.Stdout, os.Stderr)
	}
	switch {
	case err == nil:
	case errors.Is(err, errHelp):
	case errors.Is(err, errUse):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

// openLimit bounds the time until the servers answer first.
const openLimit = 20 * time.Second

// run serves the page until ctx ends.
func run(ctx context.Context, s settings, out, errs io.Writer) error {
	log := slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelInfo}))
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("-listen %s: %w", s.listen, err)
	}
	defer listener.Close()
	if s.demo {
		scene, err := demo.Start(s.crowd)
		if err != nil {
			return err
		}
		defer scene.Close()
		s.servers = scene.Servers()
		fmt.Fprintf(out, "demo: a ZooKeeper in memory at %s, and workers that lock\n", s.servers)
	}
	opening, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	client, err := locks.Open(opening, s.servers, s.options...)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), openLimit)
		defer cancel()
		_ = client.Close(closing)
	}()
	seen := board.New(s.root)
	looker := look.Start(client, seen, look.Settings{Root: s.root, Every: s.every, Most: s.most,
		Suspect: 30 * time.Second})
	defer looker.Close()
	dashboard := web.New(web.Settings{Board: seen, Client: client, Root: s.root, Open: looker.Open, Token: s.token,
		Hosts: s.hosts, Servers: s.servers, Log: log})
	s.announce(out, listener.Addr())
	warning, stopWarning := context.WithCancel(ctx)
	var warned sync.WaitGroup
	warned.Go(func() { warnOfMissing(warning, client, s.root, out) })
	defer warned.Wait() // out is the caller's again when run returns
	defer stopWarning()
	return serve(ctx, listener, dashboard, usualLimits, log)
}

// warnOfMissing says that the root, or the chroot, does not exist: the page shows the same as where
// nobody locks. It may come with its first lock.
func warnOfMissing(ctx context.Context, client *locks.Client, root string, out io.Writer) {
	switch missing, err := client.Missing(ctx, root); {
	case err != nil || missing == "": // the page says what is wrong with the servers
	case missing == "/":
		fmt.Fprintln(out, "the chroot of -zk does not exist at these servers: it comes with its first lock, unless it is mistyped")
	default:
		fmt.Fprintf(out, "%s does not exist: it comes with its first lock, unless -root is mistyped\n", missing)
	}
}
