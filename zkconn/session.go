package zkconn

import (
	"log/slog"
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
	expired        bool   // Expired was the last event
	closing        bool
	authenticating bool // the goroutine of auth.go runs
	credentials    []credential
	added          []bool // credentials that the library presents by itself at every later connection
	running        sync.WaitGroup

	cause atomic.Pointer[error] // the last one; nil when there is none
}

// announce emits Connected; s.mu is held.
func (s *session) announce() {
	if s.closing || s.announced || s.expired { // a session may be renewed while it is given up
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

// nextCredential gives the first one that is not yet given, -1 when all are; s.mu is held.
func (s *session) nextCredential() int {
	for i, added := range s.added {
		if !added {
			return i
		}
	}
	return -1
}
