// Command embedded runs a ZooKeeper server that keeps everything in memory, for trying things out where no
// ZooKeeper is installed. Any client connects to it: go-zookeeper, Curator, kazoo. Its nodes are
// gone when it ends.
//
//	go run ./examples/embedded -listen 127.0.0.1:2181
//	go run ./examples/embedded -listen 127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:2181", "addresses, one for each replica, separated by commas; port 0 for a free one")
	tick := flag.Duration("tick", 2*time.Second, "the tick: sessions may last from two ticks, and expire at ticks")
	longest := flag.Duration("max-session", time.Minute, "the longest session timeout that a client gets")
	reap := flag.Duration("reap", time.Minute, "how often empty containers are deleted")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "embedded: %q is no flag; -listen names the addresses\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}
	addrs := strings.Split(*listen, ",")
	server, err := embedded.Start(
		embedded.WithListen(addrs...),
		embedded.WithReplicas(len(addrs)),
		embedded.WithTick(*tick),
		embedded.WithSessionTimeouts(min(2**tick, *longest), *longest),
		embedded.WithReapInterval(*reap),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("ZooKeeper %s at %s; what it holds is in memory, and gone when it ends\n", embedded.Version, server.Connect())
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	<-stopped.Done()
	stop()
	sessions := len(server.Sessions())
	server.Close()
	fmt.Printf("stopped, with %d sessions open\n", sessions)
}
