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
