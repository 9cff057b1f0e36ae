package rig

import (
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
)

// Proxy stands between one client and a server, and can lose what passes. Its
// methods may be called from several goroutines.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup // the accepting goroutine and those of every link
	up       flow           // from clients to the server
	down     flow           // from the server to clients

	mu       sync.Mutex // guards what follows
	target   string
	closed   bool
	refusing bool
	forget   bool
	links    map[*link]struct{}
	faults   []*Fault
	session  *connectReply
	requests map[OpCode]int // whole frames
	parts    map[OpCode]int // single operations, those inside multis too
}

// NewProxy listens on a loopback port of its own and forwards to target, a
// server's address. It is closed when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("rig: listen for a proxy: %v", err)
	}
	p := serve(listener, target)
	t.Cleanup(p.Close)
	return p
}

func serve(listener net.Listener, target string) *Proxy {
	p := &Proxy{
		listener: listener,
		target:   target,
		links:    map[*link]struct{}{},
		requests: map[OpCode]int{},
		parts:    map[OpCode]int{},
	}
	p.running.Go(p.accept)
	return p
}

// Addr is the address for the client.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetTarget sends later connections to another server. Open connections are not changed.
func (p *Proxy) SetTarget(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = addr
}

// Close cuts everything and waits until nothing of the proxy runs any more. It
// may be called again.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.running.Wait()
}

// Cut closes every connection now, both sides of it.
func (p *Proxy) Cut() {
	p.mu.Lock()
	links := slices.Collect(maps.Keys(p.links))
	p.mu.Unlock()
	for _, l := range links {
		l.cut()
	}
}

// Refuse, while true, closes new connections at once. Refuse(true) and then Cut
// is a network that is down.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing = refuse
}

// Session returns the session of the last connect reply that passed; ok is
// false before there was one. A refused session does not change it.
func (p *Proxy) Session() (id int64, password []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return 0, nil, false
	}
	return p.session.session, slices.Clone(p.session.password), true
}

// Expect arms a fault for the next requests that match. Of several faults that
// match a request, the one armed first gets it.
func (p *Proxy) Expect(rule Rule) *Fault {
	fault := newFault(rule)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fault)
	return fault
}

// Requests counts the frames of that kind that have passed to the server, or that a fault has
// caught: a multi is one OpMulti, with any parts.
func (p *Proxy) Requests(op OpCode) int { return p.count(p.requests, op) }

// Operations counts the single operations of that kind that clients have sent:
// as requests of their own and as parts of multis.
func (p *Proxy) Operations(op OpCode) int { return p.count(p.parts, op) }

func (p *Proxy) count(counts map[OpCode]int, op OpCode) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := 0
	for kind, n := range counts {
		if op.covers(kind) {
			total += n
		}
	}
	return total
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		l := newLink(p, client)
		if !p.admit(l) {
			_ = client.Close()
			continue
		}
		p.running.Go(l.run)
	}
}

// admit registers a link before it does anything, so that a Cut after a Refuse
// leaves none out.
func (p *Proxy) admit(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.refusing {
		return false
	}
	p.links[l] = struct{}{}
	l.target = p.target
	return true
}

func (p *Proxy) drop(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// observe counts a request and returns the fault that has caught it, if any.
func (p *Proxy) observe(q request) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[q.op]++
	for _, part := range q.parts {
		p.parts[part.op]++
	}
	for _, fault := range p.faults {
		if fault.catch(q) {
			return fault
		}
	}
	return nil
}

func (p *Proxy) established(reply connectReply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = &reply
}
