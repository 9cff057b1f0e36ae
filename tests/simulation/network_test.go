package simulation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// network is all links, and the dials that nobody has answered yet.
type network struct {
	server   *embedded.Server
	history  *history
	mu       sync.Mutex
	made     int
	links    []*link
	dials    []*dial
	changed  chan struct{}
	withheld map[int]bool // clients that are not let connect
	// passed is called for every frame, before it is delivered.
	passed func(*link, direction, item)
}

// dial is a client that wants a connection.
type dial struct {
	client int
	at     time.Time
	answer chan net.Conn // nil: refused
}

var errRefused = errors.New("simulation: connection refused")

func newNetwork(server *embedded.Server, h *history) *network {
	return &network{server: server, history: h, changed: make(chan struct{}, 1), withheld: map[int]bool{}}
}

// signal says that there is something to deliver.
func (n *network) signal() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// dialer connects a client.
func (n *network) dialer(client int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := &dial{client: client, at: time.Now(), answer: make(chan net.Conn, 1)}
		n.mu.Lock()
		n.dials = append(n.dials, d)
		n.signal()
		n.mu.Unlock()
		select {
		case conn := <-d.answer:
			if conn == nil {
				return nil, errRefused
			}
			return conn, nil
		case <-ctx.Done():
			n.forget(d)
			return nil, ctx.Err()
		}
	}
}

func (n *network) forget(d *dial) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dials = slices.DeleteFunc(n.dials, func(have *dial) bool { return have == d })
}

// pendingDials are the dials without an answer, in an order that does not depend on the scheduler.
func (n *network) pendingDials() []*dial {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(n.dials), func(d *dial) bool { return n.withheld[d.client] })
	slices.SortFunc(all, func(a, b *dial) int { return a.client - b.client })
	return all
}

// answer lets a client connect to a replica, or refuses it where the replica cannot be reached.
func (n *network) answer(d *dial, replica int) {
	n.forget(d)
	conn, err := n.server.DialContext(context.Background(), "tcp", n.server.Addrs()[replica])
	if err != nil {
		n.history.note("c%d dials s%d: refused", d.client, replica)
		d.answer <- nil
	} else {
		n.history.note("c%d dials s%d", d.client, replica)
		d.answer <- n.newLink(d.client, replica, conn)
	}
	synctest.Wait()
}

// refuse lets a client's dial fail.
func (n *network) refuse(d *dial) {
	n.forget(d)
	n.history.note("c%d dials: refused", d.client)
	d.answer <- nil
	synctest.Wait()
}

// place is one direction of one link.
type place struct {
	link *link
	d    direction
}

// withhold keeps a client from connecting, or lets it; client 0 is all of them.
func (n *network) withhold(client int, hold bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if client == 0 {
		clear(n.withheld)
	} else {
		n.withheld[client] = hold
	}
	n.signal()
}

// inTouch reports whether a client has a connection that carries everything to a replica that follows.
func (n *network) inTouch(client int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.links, func(l *link) bool {
		return l.client == client && l.session != 0 && l.stalled == [2]bool{} && n.server.Replica(l.replica).Following()
	})
}

// waiting are the places where something can be delivered.
func (n *network) waiting() []place {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []place
	for _, l := range n.links {
		for d := up; d <= down; d++ {
			if len(l.queues[d]) > 0 && !l.stalled[d] {
				all = append(all, place{l, d})
			}
		}
	}
	return all
}

// open are the links that live.
func (n *network) open() []*link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.links)
}

// deliver passes on what is first in a place, and waits until all is still.
func (n *network) deliver(p place) {
	n.mu.Lock()
	items := p.link.pop(p.d)
	to := p.link.ends[p.d]
	n.mu.Unlock()
	var bytes []byte
	for _, it := range items {
		n.history.note("%s: %s", p, it.text)
		n.passed(p.link, p.d, it)
		bytes = append(bytes, it.bytes...)
		if it.end { // of the connection: frames in the other direction are dropped
			n.mu.Lock()
			n.drop(p.link)
			n.mu.Unlock()
		}
	}
	// Elsewhere: a side that does not read must not keep the driver.
	go func() { _, _ = to.Write(bytes) }()
	synctest.Wait()
}

// cut ends a connection, and loses what is under way.
func (n *network) cut(l *link) {
	n.history.note("c%d/%d is cut", l.client, l.number)
	n.mu.Lock()
	n.drop(l)
	n.mu.Unlock()
	synctest.Wait()
}

// drop forgets a link; n.mu is held.
func (n *network) drop(l *link) {
	l.cut()
	n.links = slices.DeleteFunc(n.links, func(have *link) bool { return have == l })
}

// lose takes away the first watch event that is on its way to the client, and reports whether there was one.
func (n *network) lose(l *link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, it := range l.queues[down] {
		if it.event {
			l.queues[down] = slices.Delete(l.queues[down], i, i+1)
			n.history.note("c%d/%d loses: %s", l.client, l.number, it.text)
			return true
		}
	}
	return false
}

// restore lets everything through.
func (n *network) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		l.stalled = [2]bool{}
	}
}

func (p place) String() string {
	return fmt.Sprintf("c%d/%d %v s%d", p.link.client, p.link.number, p.d, p.link.replica)
}

// stall holds up one direction of a link until restore.
func (n *network) stall(l *link, d direction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l.stalled[d] = true
}
