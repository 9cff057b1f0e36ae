package embedded

import (
	"fmt"
	"path"
	"time"
)

// Committing tells whether the ensemble carries writes out now: there is a leader that is not
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
// From then on a follower answers the client's pings, reads and syncs as ever. What the client writes is refused with
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
	i := &Injection{e: s.e, fault: f, skip: f.Skip, left: f.Count, hit: make(chan struct{})}
	if f.Count == 0 {
		i.left = 1
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.faults = append(s.e.faults, i)
	return i, nil
}
