package zkconn

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// session makes an ordered sequence of events of the library's states: Connected and Disconnected in turn, Expired
// once and last, nothing of the kind after Close was called.
//
// What the sink is told is logged at debug: whoever takes the events logs them, once.
//
// Events are handed to the sink under the mutex: that is what orders them. What a sink may ask a Conn for (its
// epoch, session, timeout, last error) is therefore kept outside of it.
type session struct {
	epoch  uint64
	sink   func(Event)
	guard  *epochGuard
	log    *slog.Logger
	server func() string
	add    func(scheme string, secret []byte) error // waits for a reply
	cut    func()

	mu             sync.Mutex
	up             bool   // a session was granted or renewed on the newest connection, and it has not been lost
	generation     uint64 // of connections; moves with up
	announced      bool   // Connected was the last event of the two
	expired        bool
	closing        bool
	authenticating bool // the goroutine of auth.go runs
	credentials    []credential
	added          []bool // credentials that the library presents by itself at every later connection
	running        sync.WaitGroup

	cause atomic.Pointer[error] // the last one; nil when there is none
}

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
	if s.closing {
		return
	}
	event := s.event(Disconnected)
	event.Err = s.lastError()
	s.log.Debug("zookeeper connection lost", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID), logkeys.Error, event.Err)
	s.sink(event)
}

// over: a server said that the session has expired.
func (s *session) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired || s.closing {
		return
	}
	s.expired = true
	event := s.event(Expired)
	s.log.Debug("zookeeper session expired", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID))
	s.sink(event)
}

// refused: a server refused a credential, here or when the library presented it again.
func (s *session) refused(cause error) {
	schemes := make([]string, len(s.credentials))
	for i, credential := range s.credentials {
		schemes[i] = credential.scheme
	}
	cause = fmt.Errorf("auth scheme %s: %w", strings.Join(schemes, ", "), cause)
	s.note(cause)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
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

// announce emits Connected; s.mu is held.
func (s *session) announce() {
	if s.closing || s.announced {
		return
	}
	s.announced = true
	s.cause.Store(nil)
	event := s.event(Connected)
	s.log.Debug("zookeeper session connected", logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID), logkeys.Timeout, event.Timeout)
	s.sink(event)
}

func (s *session) event(kind EventKind) Event {
	return Event{
		Kind: kind, Epoch: s.epoch, SessionID: s.guard.sessionID.Load(), Timeout: s.guard.sessionTimeout(),
		Server: s.server(), At: time.Now(),
	}
}

func (s *session) note(cause error) { s.cause.Store(&cause) }

func (s *session) lastError() error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	return nil
}
