package rig

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
)

// relay carries connections to a target, in the way of a network that can be cut, and that can stall or delay each
// direction by itself. Its methods may be called from several goroutines.
type relay struct {
	listener net.Listener
	running  sync.WaitGroup // the accepting goroutine and those of every strand
	up       flow           // to the target
	down     flow           // from it
	begin    func(s *strand) (up, down way)
	waits    bool // no connection comes about while one direction stalls

	mu       sync.Mutex // guards what follows
	target   string
	closed   bool
	refusing bool
	strands  map[*strand]struct{}
}

// strand is one connection through a relay: two goroutines for each direction.
type strand struct {
	near   net.Conn
	done   context.Context // ends when it is cut
	cancel context.CancelFunc
	end    func() // called when nothing runs any more

	mu  sync.Mutex
	far net.Conn
}

// way is one direction of a strand: how it reads, and what it passes on of that. Nil says that the connection is over.
type way struct {
	read func() ([]byte, error)
	pass func([]byte) []byte
}

func listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("rig: listen for a proxy: %w", err)
	}
	return listener, nil
}

// run takes connections until Close.
func (r *relay) run() {
	r.strands = map[*strand]struct{}{}
	r.running.Go(func() {
		for {
			near, err := r.listener.Accept()
			if err != nil {
				return
			}
			s := &strand{near: near, end: func() {}}
			s.done, s.cancel = context.WithCancel(context.Background())
			// It is known before it does anything, so that a Cut after a Refuse leaves none out.
			r.mu.Lock()
			target, admitted := r.target, !r.closed && !r.refusing
			if admitted {
				r.strands[s] = struct{}{}
			}
			r.mu.Unlock()
			if !admitted {
				s.cut()
				continue
			}
			r.running.Go(func() { r.carry(s, target) })
		}
	})
}

// carry joins both ends until one of them closes, or the strand is cut.
func (r *relay) carry(s *strand, target string) {
	defer func() {
		s.cut()
		s.end()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.strands, s)
	}()
	if r.waits && (r.up.stalls() || r.down.stalls()) {
		// Connecting takes both directions, so a network that stalls takes no new
		// connection: what was sent into this one was never sent.
		_ = r.up.pass(s.done) && r.down.pass(s.done)
		return
	}
	far, err := new(net.Dialer).DialContext(s.done, "tcp", target)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.far = far
	s.mu.Unlock()
	if s.done.Err() != nil {
		return // cut while dialing
	}
	up, down := r.begin(s)
	var other sync.WaitGroup
	other.Go(func() {
		whole := s.carry(&r.up, up, far)
		// The client has gone, but what the server has still to say may be held
		// back; the server's own end of the connection ends the strand.
		if half, ok := far.(interface{ CloseWrite() error }); !whole || !ok || half.CloseWrite() != nil {
			s.cut()
		}
	})
	s.carry(&r.down, down, s.near)
	s.cut()
	other.Wait()
}

// carry carries one direction to its end, and reports whether all that was read has been passed on.
func (s *strand) carry(f *flow, w way, to net.Conn) bool {
	return f.carry(stream{done: s.done, read: w.read, cut: s.cut, deliver: func(b []byte) bool {
		passed := w.pass(b)
		if passed == nil {
			return false
		}
		_, err := to.Write(passed)
		return err == nil
	}})
}

// cut closes both sides. It may be called again.
func (s *strand) cut() {
	s.cancel()
	_ = s.near.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.far != nil {
		_ = s.far.Close()
	}
}

// Addr is the address for the client.
func (r *relay) Addr() string { return r.listener.Addr().String() }

// SetTarget sends later connections to another server. Open connections are not changed.
func (r *relay) SetTarget(addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target = addr
}

// Refuse, while true, closes new connections at once. Refuse(true) and then Cut
// is a network that is down.
func (r *relay) Refuse(refuse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusing = refuse
}

// Connections counts the clients' connections that are open, also those that stall.
func (r *relay) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.strands)
}

// Cut closes every connection now, both sides of it.
func (r *relay) Cut() {
	r.mu.Lock()
	strands := slices.Collect(maps.Keys(r.strands))
	r.mu.Unlock()
	for _, s := range strands {
		s.cut()
	}
}

// Close cuts everything and waits until nothing of it runs any more. It may be called again.
func (r *relay) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	_ = r.listener.Close()
	r.Cut()
	r.running.Wait()
}
