package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"path"
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
	e.faults.mu = &e.mu
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

// TB is the part of testing.TB that Run needs.
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

// Committing reports whether the ensemble carries writes out now: there is a leader that is not
// paused, and a majority that it can talk to.
func (s *Server) Committing() bool {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.leader != nil && !s.e.leader.paused() && s.e.quorate()
}

// SessionDue gives the time at which the leader takes a session for dead if it hears nothing more
// of it. The session ends at the first tick from then on. false means that there is no such
// session.
func (s *Server) SessionDue(id int64) (time.Time, bool) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	session := s.e.sessions[id]
	if session == nil {
		return time.Time{}, false
	}
	return session.expires, true
}

// Expire ends a session at once, as if its time had run out. It fails when there is no such session, or no
// leader to end it.
func (s *Server) Expire(id int64) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	session := s.e.sessions[id]
	if session == nil || s.e.leader == nil {
		return fmt.Errorf("embedded: no session 0x%x to expire, or no leader", id)
	}
	s.e.expire(session)
	return nil
}

// EndElsewhere ends a session at the leader and leaves its client's connection open. Ensembles of ZooKeeper do so
// when a second connection to the client's server closes the session while the client connects again: the server takes
// the close for its own client's, and closes no connection but the one that asked.
//
// From then on a follower answers the client's pings, reads and syncs as ever. The client's writes are refused with
// SessionExpired: a single operation in the reply's header, a multi in its first part, behind a header that says OK. A
// leader, or a server alone, answers nothing any more. A client that connects again is told that its session is over.
//
// It fails when there is no such session, or no leader to end it.
func (s *Server) EndElsewhere(id int64) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	session := s.e.sessions[id]
	if session == nil || s.e.leader == nil {
		return fmt.Errorf("embedded: no session 0x%x to end, or no leader", id)
	}
	s.e.endElsewhere(session)
	return nil
}

// Inject puts a fault in place. It fails when the path is no pattern.
func (s *Server) Inject(f Fault) (*Injection, error) {
	if _, err := path.Match(f.Path, ""); err != nil {
		return nil, fmt.Errorf("embedded: fault's path %q: %w", f.Path, err)
	}
	return s.e.faults.inject(f), nil
}
