// Command cluster runs three nodes, each a process of its own, that reach each other by protoactor's
// remote. Two of them, a and b, have a ZooKeeper session and are gateways for the third, c, which has
// none. Workers on all three contend for one lock, and an actor exists once among them.
//
// The program kills a, and cuts c off for a while. Each holder reports to a witness in the first
// process again and again. The witness checks that there was never more than one valid holder. It
// brings its own server; everything runs on 127.0.0.1, and ends within a minute.
//
//	go run ./examples/cluster
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const (
	// timeout is the timeout of all sessions.
	timeout = 4 * time.Second
	// lockPath is the lock of the workers, and singletonPath the lock of the singleton.
	lockPath      = "/turnstile/cluster/lock"
	singletonPath = "/turnstile/cluster/singleton"
	// enough is the number of grants that show that a node works.
	enough = 5
)

func main() {
	limit := flag.Duration("limit", 2*time.Minute, "give up after this long")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "cluster: %q is no flag\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}
	if text := os.Getenv(orderVariable); text != "" {
		if err := beNode(text); err != nil {
			fmt.Fprintln(os.Stderr, "cluster: node:", err)
			os.Exit(1)
		}
		return
	}
	verdict, err := run(*limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
	fmt.Println("ok:", verdict)
}

// run plays the whole, and gives what the witness has to say.
func run(limit time.Duration) (verdict string, err error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	server, err := embedded.Start(embedded.WithTick(timeout / 20))
	if err != nil {
		return "", err
	}
	defer server.Close()
	w, err := newWitness()
	if err != nil {
		return "", err
	}
	defer w.close()
	s := &stage{ctx: ctx, witness: w, servers: server.Addr()}
	err = s.play()
	if ended := s.end(); err == nil {
		err = ended
	}
	verdict, wrong := w.verdict()
	return verdict, errors.Join(wrong, err)
}

// stage does to the nodes what the program shows.
type stage struct {
	ctx     context.Context
	witness *witness
	servers string
	a, b, c *node
}

func (s *stage) play() (err error) {
	if s.a, err = s.start("a", true); err != nil {
		return err
	}
	if err := s.until("the singleton runs on a", func(w *witness) bool { return w.singleton() == "a" }); err != nil {
		return err
	}
	if s.b, err = s.start("b", true); err != nil {
		return err
	}
	if s.c, err = s.start("c", false, s.a.address(), s.b.address()); err != nil {
		return err
	}
	if err := s.works("a", "b", "c"); err != nil {
		return err
	}
	if err := s.killGateway(); err != nil {
		return err
	}
	return s.cutOff()
}

// killGateway kills a while c holds, over a. The locks of a itself are free when its session has
// expired. On a machine that stood still, c may have gone to b before, and loses nothing.
func (s *stage) killGateway() error {
	costs := func(w *witness) bool { return w.heldBy("a") }
	return s.strike("a is killed: a gateway, with its session and the singleton", costs, s.a.kill, func() error {
		moved := func(w *witness) bool { return w.singleton() != "a" }
		if err := s.until("the singleton has moved", moved); err != nil {
			return err
		}
		s.witness.say("the singleton has moved from a to %s", s.witness.runs())
		return s.works("b", "c")
	})
}

// cutOff cuts c from all other nodes while it holds. It finds by itself that its lease is over.
func (s *stage) cutOff() error {
	cut := func() error { s.c.road.cut(true); return nil }
	costs := func(*witness) bool { return true }
	return s.strike("c is cut off from the other nodes", costs, cut, func() error {
		if err := s.works("b"); err != nil {
			return err
		}
		s.witness.say("c is back")
		s.c.road.cut(false)
		return s.works("b", "c")
	})
}

// strike does what costs c the lock that it holds, waits until c knows, and then goes on.
func (s *stage) strike(what string, costs func(*witness) bool, do, then func() error) error {
	s.witness.stay("c")
	defer s.witness.stay("")
	if err := s.until("c holds", func(w *witness) bool { return w.staying("c") }); err != nil {
		return err
	}
	lost, lose := s.witness.lost("c"), s.witness.sees(costs)
	s.witness.say("%s", what)
	if err := do(); err != nil {
		return err
	}
	gone := func(w *witness) bool { return !lose || w.losses["c"] > lost }
	if err := s.until("c knows that it has lost the lock", gone); err != nil {
		return err
	}
	s.witness.stay("")
	return then()
}

// works waits until the workers of each of these nodes have been granted the lock a few times more.
func (s *stage) works(names ...string) error {
	for _, name := range names {
		before := s.witness.granted(name)
		more := func(w *witness) bool { return w.grants[name] >= before+enough }
		if err := s.until(name+" works", more); err != nil {
			return err
		}
	}
	return nil
}

// until waits until the witness has seen an event. Nodes that end meanwhile, and are not meant to, are an error.
func (s *stage) until(what string, seen func(*witness) bool) error {
	for {
		if s.witness.sees(seen) {
			return nil
		}
		for _, n := range []*node{s.a, s.b, s.c} {
			if n != nil && n.failed() {
				return fmt.Errorf("node %s has ended, while waiting until %s", n.name, what)
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-s.ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, s.ctx.Err())
		}
	}
}

// end ends all nodes in order.
func (s *stage) end() (err error) {
	for _, n := range []*node{s.c, s.b, s.a} {
		if n != nil {
			err = errors.Join(err, n.end())
		}
	}
	return err
}
