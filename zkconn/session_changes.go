package zkconn

import (
	"fmt"
	"strings"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// gained: a server granted or renewed the session.
func (s *session) gained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = true
	s.generation++
	if s.nextCredential() < 0 {
		s.announce()
		return
	}
	if !s.authenticating {
		s.authenticating = true
		s.running.Go(s.authenticate)
	}
}

// lost: the newest connection is gone, whether or not it had a session.
func (s *session) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = false
	s.generation++
	if !s.announced {
		return
	}
	s.announced = false
	if s.closing || s.expired {
		return
	}
	event := s.event(Disconnected)
	event.Err = s.lastError()
	s.log.Debug("zookeeper connection lost", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID), logkeys.Error, event.Err)
	s.sink(event)
}

// lapsed: no lease may rest on the session any more.
func (s *session) lapsed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired || s.closing {
		return
	}
	event := s.event(Lapsed)
	s.log.Debug("zookeeper session lapsed", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID))
	s.sink(event)
}

// over: the session has expired, says a server where cause is nil.
func (s *session) over(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired || s.closing {
		return
	}
	s.expired = true
	event := s.event(Expired)
	event.Err = cause
	s.log.Debug("zookeeper session expired", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID),
		logkeys.Error, cause)
	s.sink(event)
}

// credentialRefused: a server refused one of WithAuth, here or when the library presented it again.
func (s *session) credentialRefused(cause error) {
	schemes := make([]string, len(s.credentials))
	for i, credential := range s.credentials {
		schemes[i] = credential.scheme
	}
	s.refused(fmt.Errorf("auth scheme %s: %w", strings.Join(schemes, ", "), cause))
}

// refused: a server refused a credential, or a client without.
func (s *session) refused(cause error) {
	s.note(cause)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.expired {
		return
	}
	event := s.event(AuthFailed)
	event.Err = cause
	s.log.Debug("zookeeper credential refused", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID), logkeys.Error, cause)
	s.sink(event)
}

// watched: an event of a node.
func (s *session) watched(kind EventKind, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	event := s.event(kind)
	event.Path, event.Server = path, ""
	s.sink(event)
}

// close ends the events of the session.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}
