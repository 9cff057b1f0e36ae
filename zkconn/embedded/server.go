package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Server is a running server: one replica, or an ensemble of them. Its methods may be called from several
// goroutines.
type Server struct{ e *ensemble }

// Start starts a server. Close ends it.
func Start(opts ...Option) (*Server, error) {
	settings, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	e := &ensemble{settings: settings, sessions: map[int64]*session{}, lines: map[[2]*Replica]line{}}
	_, _ = rand.Read(e.secret[:])
	now := e.clock.Now()
	e.lastReap, e.ticked = now, now
	e.nextSession = (now.UnixMilli()<<24)&0xffffffffffffff | 1<<56
	s := &Server{e: e}
	for i, addr := range settings.listen {
		r := &Replica{e: e, number: i, addr: addr, tree: newTree(), bySession: map[int64]*conn{},
			minTimeout: settings.minTimeout, maxTimeout: settings.maxTimeout}
		e.replicas = append(e.replicas, r)
	}
	for _, r := range e.replicas {
		if err := r.Start(); err != nil {
			s.Close()
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopTick = e.clock.AfterFunc(e.tickTime, e.tick)
	if e.reapEvery < e.tickTime {
		e.stopReap = e.clock.AfterFunc(e.reapEvery, e.reapBetweenTicks)
	}
	if len(e.replicas) > 1 {
		e.stopPulse = e.clock.AfterFunc(e.tickTime/4, e.pulse) // not at a tick, so that their order is plain
	}
	return s, nil
}

// Close stops every replica and forgets the data. It waits until no goroutine of the server is left.
func (s *Server) Close() {
	s.e.mu.Lock()
	s.e.closed = true
	for _, stop := range []func(){s.e.stopTick, s.e.stopPulse, s.e.stopReap} {
		if stop != nil {
			stop()
		}
	}
	s.e.mu.Unlock()
	for _, r := range s.e.replicas {
		r.Stop()
	}
}

// Addr is the address of the first replica, host:port.
func (s *Server) Addr() string { return s.e.replicas[0].addr }

// Addrs are the addresses of all replicas.
func (s *Server) Addrs() []string {
	var all []string
	for _, r := range s.e.replicas {
		all = append(all, r.addr)
	}
	return all
}

// Connect is the connect string for clients: all addresses, separated by commas.
func (s *Server) Connect() string { return strings.Join(s.Addrs(), ",") }

// Dialer connects to the replicas without the network. It has the type of go-zookeeper's Dialer. It
// ignores the network's name and the timeout, and reaches only addresses of the server.
func (s *Server) Dialer() func(network, address string, timeout time.Duration) (net.Conn, error) {
	return func(_, address string, _ time.Duration) (net.Conn, error) {
		return s.DialContext(context.Background(), "tcp", address)
	}
}

// DialContext is Dialer with a context.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	for _, r := range s.e.replicas {
		if r.addr == address {
			return r.dial(ctx)
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("embedded: no replica at %s", address)}
}

// Replica is the i-th of the replicas, counted from zero.
func (s *Server) Replica(i int) *Replica { return s.e.replicas[i] }

// Replicas are all of them.
func (s *Server) Replicas() []*Replica { return slices.Clone(s.e.replicas) }

// Leader is the replica that makes the transactions; nil while no majority can be reached.
func (s *Server) Leader() *Replica {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.leader
}

// Sessions are the ids of the sessions that live, in the order in which they were opened.
func (s *Server) Sessions() []int64 {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	ids := slices.Clone(s.e.sessionOrder.items)
	slices.Sort(ids)
	return ids
}

// TB is what Run needs of a testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Run starts a server for a test, which closes it when it ends.
func Run(t TB, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(s.Close)
	return s
}
