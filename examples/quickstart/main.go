// Command quickstart lets workers contend for one lock and checks what it sees: never more than one
// holder, and fencing tokens that only grow. It brings its own server unless it is given one.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -zk 127.0.0.1:2181 -workers 8 -rounds 5
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/examples/printing"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

type settings struct {
	servers  string
	path     string
	workers  int
	rounds   int
	sessions int
	hold     time.Duration
	limit    time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.servers, "zk", "", "servers, like host:2181,host:2181/chroot; none: one inside this program")
	flag.StringVar(&s.path, "path", "/turnstile/quickstart", "the lock path")
	flag.IntVar(&s.workers, "workers", 8, "how many workers contend")
	flag.IntVar(&s.rounds, "rounds", 5, "how often each of them locks")
	flag.IntVar(&s.sessions, "sessions", 2, "how many ZooKeeper sessions the workers share")
	flag.DurationVar(&s.hold, "hold", time.Millisecond, "how long each holds the lock")
	flag.DurationVar(&s.limit, "limit", time.Minute, "give up after this long")
	flag.Parse()
	if s.workers < 1 || s.rounds < 1 || s.sessions < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "quickstart: -zk names the servers; -workers, -rounds and -sessions are at least 1")
		flag.Usage()
		os.Exit(2)
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
	fmt.Printf("ok: %d grants, at most 1 holder at a time, tokens strictly increasing\n", s.workers*s.rounds)
}

// run lets the workers contend. The first error of a worker or of the witness is its result.
func run(s settings) error {
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
	clients := make([]*locks.Client, min(s.sessions, s.workers))
	for i := range clients {
		client, err := locks.Open(ctx, s.servers, locks.WithSessionTimeout(10*time.Second))
		if err != nil {
			return err
		}
		defer client.Close(ctx)
		clients[i] = client
	}
	seen := &witness{}
	prints := printing.New(os.Stdout, "worker")
	var all sync.WaitGroup
	for n := range s.workers {
		all.Go(func() {
			if err := work(ctx, clients[n%len(clients)], n, s, seen, prints); err != nil {
				seen.fail(fmt.Errorf("worker %d: %w", n, err))
			}
		})
	}
	all.Wait()
	prints.Flush(ctx)
	return seen.verdict(s.workers * s.rounds)
}

// work is one worker: it locks, holds for a moment, and gives back.
func work(ctx context.Context, client *locks.Client, n int, s settings, seen *witness, prints *printing.Printer) error {
	observer := prints.Observe(client.System(), n)
	mutex := client.Mutex(s.path, locks.WithLabel(fmt.Sprintf("worker %d", n)), locks.WithObserver(observer))
	for range s.rounds {
		err := locks.Do(ctx, mutex, func(ctx context.Context, token locks.Token) error {
			seen.enter(token)
			defer seen.leave()
			select {
			case <-time.After(s.hold):
				return nil
			case <-ctx.Done(): // also when the lock is lost
				return context.Cause(ctx)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
