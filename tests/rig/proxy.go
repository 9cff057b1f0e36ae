package rig

import (
	"net"
	"slices"
	"testing"
	"time"
)

// Proxy stands between one client and a server, and can lose what passes. Its
// methods may be called from several goroutines.
type Proxy struct {
	relay
	// What follows is guarded by relay.mu.
	forget   bool
	faults   []*Fault
	session  connectReply   // zero before there was one
	requests map[OpCode]int // whole frames
	parts    map[OpCode]int // single operations, those inside multis too
}

// NewProxy listens on a loopback port of its own and forwards to target, a
// server's address. It is closed when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p, err := OpenProxy(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// OpenProxy is [NewProxy] for programs that are no tests: the caller closes it.
func OpenProxy(target string) (*Proxy, error) {
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	return serve(listener, target), nil
}

func serve(listener net.Listener, target string) *Proxy {
	p := &Proxy{relay: relay{listener: listener, target: target}, requests: map[OpCode]int{}, parts: map[OpCode]int{}}
	p.begin = func(s *strand) (up, down way) { return newLink(p, s) }
	p.run()
	return p
}

// Session returns the session of the last connect reply that passed; ok is
// false before there was one. A refused session does not change it.
func (p *Proxy) Session() (id int64, password []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session.session, slices.Clone(p.session.password), p.session.accepted()
}

// Timeout is the timeout that the last connect reply has granted, or 0 before the first.
func (p *Proxy) Timeout() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.session.timeout) * time.Millisecond
}

// ForgetSessions, while true, has clients that connect again ask for a new session instead of their own: what stands in
// for a server or a proxy that hands out another session on each reconnect.
func (p *Proxy) ForgetSessions(forget bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget = forget
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
