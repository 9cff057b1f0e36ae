package main

import (
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"sync"
	"time"
)

// witness hears of every hold, and believes nothing but its own order of events.
//
// A holder calls Look again and again. Each call is given a number. When a call has returned and
// the lease is valid then, it was valid when the witness gave the number, because a lease that is
// over is never valid again: the holder confirms the number with its next call. So a hold was valid
// from its first confirmed number to its last, by the witness's order, with any clocks and delays.
// Two holds of one path must not overlap, and the later one must have the greater token.
type witness struct {
	listener net.Listener
	begun    time.Time

	mu     sync.Mutex
	number int64
	alive  map[string]bool    // nodes that are ready
	holds  map[string][]*hold // by path, in the order in which they were first confirmed
	ids    map[int64]*hold
	grants map[string]int // of the lock, by node
	losses map[string]int // of the lock, by node
	stays  string         // the node whose workers are not to give the lock back
	wrong  []error
}

// hold is one hold of a path.
type hold struct {
	Look
	first, last int64 // that were confirmed; zero for none
	stays, over bool  // it was told to stay; it has ended
}

// Look is a report of a holder.
type Look struct {
	ID         int64 // of the hold: what Begin gave
	Node, Path string
	Who, By    string // the worker, and how it came to the lock
	Token      int64
	Session    int64  // the session that has it; zero where nobody asks
	Confirms   int64  // the newest number for which the lease was valid; zero for none
	Ends       string // how it ended; empty while it has not
}

// Seen is the answer of the witness.
type Seen struct {
	ID, Number int64
	Stay       bool // the holder is not to give it back yet
}

func newWitness() (*witness, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &witness{listener: listener, begun: time.Now(), alive: map[string]bool{}, holds: map[string][]*hold{},
		ids: map[int64]*hold{}, grants: map[string]int{}, losses: map[string]int{}}
	server := rpc.NewServer()
	if err := server.RegisterName("Witness", &Calls{w}); err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(conn)
		}
	}()
	return w, nil
}

func (w *witness) address() string { return w.listener.Addr().String() }
func (w *witness) close()          { _ = w.listener.Close() }

// Calls has the methods that nodes may call.
type Calls struct{ w *witness }

// Ready says that a node is ready.
func (c *Calls) Ready(name string, _ *struct{}) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.alive[name] = true
	return nil
}

// Look takes what a holder says, and gives it a number.
func (c *Calls) Look(l Look, seen *Seen) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.number++
	*seen = Seen{ID: l.ID, Number: c.w.number, Stay: l.Path == lockPath && l.Node == c.w.stays}
	if l.ID == 0 {
		seen.ID = seen.Number
		c.w.ids[seen.ID] = &hold{Look: l}
		return nil
	}
	h := c.w.ids[l.ID]
	if h == nil {
		return errors.New("nobody has begun this hold")
	}
	h.stays = seen.Stay
	if l.Confirms != 0 {
		c.w.confirm(h, l.Confirms)
	}
	if l.Ends != "" {
		c.w.ended(h, l.Ends)
	}
	return nil
}

// confirm takes it that a hold was valid when a number was given; the mutex is held.
func (w *witness) confirm(h *hold, number int64) {
	h.last = number
	if h.first == 0 {
		h.first = number
		w.holds[h.Path] = append(w.holds[h.Path], h)
		if h.Path == lockPath {
			w.grants[h.Node]++
		}
		w.print("%s  %-9s  holds %-10s token %d, by %s", h.Node, h.Who, name(h.Path), h.Token, h.By)
	}
	for _, other := range w.holds[h.Path] {
		switch {
		case other == h:
		case other.first <= h.last && h.first <= other.last:
			w.fault("%s: %s on %s (token %d) and %s on %s (token %d) held at a time",
				h.Path, other.Who, other.Node, other.Token, h.Who, h.Node, h.Token)
		case (other.first < h.first) != (other.Token < h.Token):
			w.fault("%s: token %d of %s and token %d of %s are in the wrong order",
				h.Path, other.Token, other.Node, h.Token, h.Node)
		}
	}
}

// ended notes the end of a hold; the mutex is held.
func (w *witness) ended(h *hold, how string) {
	h.over = true
	delete(w.ids, h.ID)
	if how != givenBack {
		if h.Path == lockPath {
			w.losses[h.Node]++
		}
		w.print("%s  %-9s  has lost %-7s token %d: %s", h.Node, h.Who, name(h.Path), h.Token, how)
	}
}

// fault notes what must not be; the mutex is held.
func (w *witness) fault(format string, args ...any) {
	if len(w.wrong) < 10 {
		w.wrong = append(w.wrong, fmt.Errorf(format, args...))
	}
}

func name(path string) string {
	if path == singletonPath {
		return "singleton"
	}
	return "lock"
}

// print prints a line; the mutex is held.
func (w *witness) print(format string, args ...any) {
	fmt.Printf("%6.3f  %s\n", time.Since(w.begun).Seconds(), fmt.Sprintf(format, args...))
}

// say prints what the program does.
func (w *witness) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.print("--- "+format, args...)
}

// sees evaluates a condition while the mutex is held.
func (w *witness) sees(so func(*witness) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return so(w)
}

func (w *witness) ready(node string) bool {
	return w.sees(func(w *witness) bool { return w.alive[node] })
}

// stay has the workers of a node keep the lock when they get it; "" of none.
func (w *witness) stay(node string) {
	w.sees(func(w *witness) bool { w.stays = node; return true })
}

func (w *witness) granted(node string) (n int) {
	w.sees(func(w *witness) bool { n = w.grants[node]; return true })
	return n
}

func (w *witness) lost(node string) (n int) {
	w.sees(func(w *witness) bool { n = w.losses[node]; return true })
	return n
}

// runs gives the node on which the singleton runs: the node of its newest hold. singleton does the
// same for a caller that has the mutex.
func (w *witness) runs() (node string) {
	w.sees(func(w *witness) bool { node = w.singleton(); return true })
	return node
}

func (w *witness) singleton() string {
	if all := w.holds[singletonPath]; len(all) > 0 {
		return all[len(all)-1].Node
	}
	return ""
}

// staying reports whether the newest hold of the lock is this node's, and the node has been told to
// keep it; the mutex is held.
func (w *witness) staying(node string) bool {
	all := w.holds[lockPath]
	return len(all) > 0 && all[len(all)-1].Node == node && all[len(all)-1].stays && !all[len(all)-1].over
}

// heldBy reports whether the newest hold of the lock is with a node's own session; the mutex is
// held.
func (w *witness) heldBy(node string) bool {
	all := w.holds[lockPath]
	for _, h := range all {
		if h.Node == node {
			return h.Session == all[len(all)-1].Session
		}
	}
	return false
}

// verdict says what was seen, or what was wrong.
func (w *witness) verdict() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) > 0 {
		return "", errors.Join(w.wrong...)
	}
	grants, nodes := len(w.holds[lockPath]), len(w.grants)
	if grants == 0 || len(w.holds[singletonPath]) < 2 {
		return "", errors.New("the witness has seen too little to say anything")
	}
	return fmt.Sprintf("%d grants on %d nodes, and %d of the singleton, seen %d times: never more than one valid holder,"+
		" tokens strictly increasing", grants, nodes, len(w.holds[singletonPath]), w.number), nil
}
