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

// EventKind is the kind of an event.
type EventKind uint8

const (
	// Connected: a server has granted or renewed the session, and accepted the credentials.
	Connected EventKind = iota + 1
	// Disconnected: the connection was lost; the session may live on. It comes once for each
	// Connected, but not after Expired.
	Disconnected
	// Expired: the session is over. It is the last event. Err is nil where a server has said so.
	// Otherwise it says why the session was given up: no server has renewed it for a session
	// timeout, or one has handed out another in its place (ErrOtherSession).
	Expired
	// AuthFailed: a server refused a credential, or a client without one, and hung up; or a SASL
	// exchange failed for good (WithSASL). The Conn goes on trying, with backoff.
	AuthFailed
	// Lapsed: the chain of evidence is broken, so no lease may rest on this session any more. The
	// session may live on, for requests that need no lease. It comes once at most, perhaps before a
	// Connected.
	Lapsed
	// NodeCreated: a watched node was created. Events of nodes come in the order of their numbers
	// on the wire.
	NodeCreated
	// NodeDeleted: a watched node was deleted.
	NodeDeleted
	// NodeDataChanged: a watched node's data was set.
	NodeDataChanged
	// NodeChildrenChanged: a watched node's children changed.
	NodeChildrenChanged
)

var eventKindNames = [...]string{
	Connected:           "connected",
	Disconnected:        "disconnected",
	Expired:             "expired",
	AuthFailed:          "auth failed",
	Lapsed:              "lapsed",
	NodeCreated:         "node created",
	NodeDeleted:         "node deleted",
	NodeDataChanged:     "node data changed",
	NodeChildrenChanged: "node children changed",
}

// String gives the kind in lower case.
func (k EventKind) String() string {
	if int(k) < len(eventKindNames) && eventKindNames[k] != "" {
		return eventKindNames[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Event is something that happened to the session or to a watched node.
type Event struct {
	Kind EventKind
	// Epoch is the number of Dial.
	Epoch uint64
	// Path is the watched node, without the chroot; empty for events of the session.
	Path string
	// SessionID is the session; 0 before one was granted.
	SessionID int64
	// Timeout is the session timeout that the server granted; 0 before that.
	Timeout time.Duration
	// Server is the address last connected to, for events of the session.
	Server string
	// Err is the cause of Disconnected, AuthFailed and Expired, with the server where there is one.
	Err error
	// At is when the event was reported here, with a monotonic reading.
	At time.Time
}

// session makes ordered events of the library's states: Connected and Disconnected in turn, Expired
// once and last, none after Close. The mutex orders the calls of the sink, so it must not guard
// what a sink may ask a Conn for.
type session struct {
	epoch  uint64
	sink   func(Event)
	guard  *epochGuard
	log    *slog.Logger
	server func() string
	add    func(scheme string, secret []byte) error // waits for a reply
	cut    func()

	mu             sync.Mutex
	up             bool   // the newest connection has the session
	generation     uint64 // of connections; moves with up
	announced      bool   // Connected was the last of the two events
	expired        bool   // Expired was the last event
	closing        bool
	authenticating bool
	credentials    []credential
	added          int // credentials that the library presents by itself from now on
	running        sync.WaitGroup

	cause atomic.Pointer[error] // of Conn.LastError; nil for none
}

// tell tells an event of the session; s.mu is held.
func (s *session) tell(kind EventKind, err error, text string, attrs ...any) {
	event := Event{
		Kind: kind, Epoch: s.epoch, SessionID: s.guard.sessionID.Load(), Timeout: s.guard.sessionTimeout(),
		Server: s.server(), Err: err, At: time.Now(),
	}
	s.log.Debug(text, append([]any{logkeys.Server, event.Server, logkeys.Session, logkeys.SessionID(event.SessionID)}, attrs...)...)
	s.sink(event)
}

func (s *session) note(cause error) { s.cause.Store(&cause) }

func (s *session) lastError() error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	return nil
}

func (s *session) gained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = true
	s.generation++
	if s.added == len(s.credentials) {
		s.announce()
		return
	}
	if !s.authenticating {
		s.authenticating = true
		s.running.Go(s.authenticate)
	}
}

// announce emits Connected; s.mu is held.
func (s *session) announce() {
	if s.closing || s.announced || s.expired { // a session may be renewed while it is given up
		return
	}
	s.announced = true
	s.cause.Store(nil)
	s.tell(Connected, nil, "zookeeper session connected", logkeys.Timeout, s.guard.sessionTimeout())
}

// lost: the newest connection is gone, with or without a session.
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
	err := s.lastError()
	s.tell(Disconnected, err, "zookeeper connection lost", logkeys.Error, err)
}

func (s *session) lapsed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired || s.closing {
		return
	}
	s.tell(Lapsed, nil, "zookeeper session lapsed")
}

// over: the session has expired, by a server's word where cause is nil.
func (s *session) over(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired || s.closing {
		return
	}
	s.expired = true
	s.tell(Expired, cause, "zookeeper session expired", logkeys.Error, cause)
}

// credentialRefused: a server refused one of WithAuth, here or from the library.
func (s *session) credentialRefused(cause error) {
	schemes := make([]string, len(s.credentials))
	for i, credential := range s.credentials {
		schemes[i] = credential.scheme
	}
	s.refused(fmt.Errorf("auth scheme %s: %w", strings.Join(schemes, ", "), cause))
}

func (s *session) refused(cause error) {
	s.note(cause)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.expired {
		return
	}
	s.tell(AuthFailed, cause, "zookeeper credential refused", logkeys.Error, cause)
}

func (s *session) watched(kind EventKind, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink(Event{Kind: kind, Epoch: s.epoch, Path: path, SessionID: s.guard.sessionID.Load(), Timeout: s.guard.sessionTimeout(), At: time.Now()})
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// Once a first call, which needs a connection with a session, is answered, the library presents a
// credential at every connection. So the first connection is announced when a goroutine has made
// these calls.
//
// The call for credential 1 goes out on connection 1, which is lost after the server's reply. The
// library makes connection 2 without the credential, and remembers it only then. So a call counts
// only if no connection was lost or made meanwhile; else it is made again.

func (s *session) authenticate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.up && !s.closing && s.added < len(s.credentials) {
		next, generation := s.credentials[s.added], s.generation
		s.mu.Unlock()
		err := s.add(next.scheme, next.secret)
		s.mu.Lock()
		switch {
		case generation != s.generation:
		case err == nil:
			s.added++
		default:
			// Refused (the transport has told the session so), or cut and not yet noticed. The server
			// hangs up either way; a cut makes sure that another connection follows, with which this
			// begins again.
			s.authenticating = false
			if !s.closing {
				s.cut()
			}
			return
		}
	}
	s.authenticating = false
	if s.up && s.added == len(s.credentials) {
		s.announce()
	}
}
