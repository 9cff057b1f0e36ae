package zkconn

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errEpochOver = errors.New("the session has expired, and this connection gets no other")
	errNoSession = errors.New("the server granted no session")
	// errGivenUp: nobody knows whether the session has ended.
	errGivenUp = errors.New("no server has renewed the session for a session timeout")
)

// epochGuard gives a Conn one session in its life. The library would ask for a new one, and send
// the queued requests under it.
type epochGuard struct {
	sessionID atomic.Int64
	timeout   atomic.Int64 // nanoseconds, as granted
	password  atomic.Pointer[[]byte]
	over      atomic.Bool  // it gets no other connection
	ended     atomic.Bool  // a server has said that the session has ended
	zxid      atomic.Int64 // the newest that a reply has named
	behind    atomic.Bool  // an event has come since, of a transaction that may be newer
	closed    atomic.Bool  // the server has confirmed the closing
}

// mayRequest judges the session that a connect request names; 0 asks for a new one.
func (g *epochGuard) mayRequest(sessionID int64) error {
	switch had := g.sessionID.Load(); {
	case g.over.Load():
		return errEpochOver
	case sessionID != had:
		return fmt.Errorf("connect request for session %#x in an epoch of session %#x", sessionID, had)
	}
	return nil
}

// granted records a connect reply. After an error the library must not see it.
func (g *epochGuard) granted(reply connectReply) error {
	if err := g.mayGrant(reply); err != nil {
		return err
	}
	if reply.sessionID == 0 {
		g.over.Store(true)
		g.ended.Store(true)
		return nil
	}
	// The timeout first: a reader that sees the session sees its timeout.
	g.timeout.Store(int64(reply.timeout))
	g.password.Store(&reply.password)
	g.sessionID.Store(reply.sessionID)
	return nil
}

func (g *epochGuard) mayGrant(reply connectReply) error {
	had := g.sessionID.Load()
	switch {
	case g.over.Load():
		return errEpochOver
	case reply.sessionID == 0 && had == 0:
		return errNoSession
	case reply.sessionID == 0:
		return nil
	case had != 0 && reply.sessionID != had:
		return fmt.Errorf("%w: %#x for %#x", ErrOtherSession, reply.sessionID, had)
	case reply.timeout <= 0:
		return fmt.Errorf("server granted a session timeout of %v", reply.timeout)
	}
	return nil
}

// Heard says up to which transaction the servers had told this client at some time.
type Heard struct {
	// Zxid is the newest transaction that a reply has named.
	Zxid int64
	// Whole: no event has come since. Before 3.9 an event does not tell its transaction, so a
	// holder by an event knows of no zxid that is newer than all writes of the holder before.
	Whole bool
}

// toldOf notes the zxid of a reply. Replies of one connection come one after the other.
func (g *epochGuard) toldOf(zxid int64) {
	if zxid > g.zxid.Load() {
		g.zxid.Store(zxid)
	}
	g.behind.Store(false)
}

func (g *epochGuard) heard() Heard {
	behind := g.behind.Load() // first: a reply in between makes both newer
	return Heard{Zxid: g.zxid.Load(), Whole: !behind}
}

func (g *epochGuard) sessionTimeout() time.Duration { return time.Duration(g.timeout.Load()) }

// gate lets operations in until it is shut, and knows when the last of them has left.
type gate struct {
	mu     sync.Mutex
	reason error
	inside sync.WaitGroup
	shut   chan struct{}
}

func newGate() *gate { return &gate{shut: make(chan struct{})} }

// enter fails with the reason when the gate is shut. After success the caller must call leave.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return g.reason
	}
	g.inside.Add(1)
	return nil
}

func (g *gate) leave() { g.inside.Done() }

func (g *gate) close(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason == nil {
		g.reason = reason
		close(g.shut)
	}
}

func (g *gate) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason
}

func (g *gate) isShut() bool { return g.why() != nil }
