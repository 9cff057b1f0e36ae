package zkconn

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// transport is the connection that the library reads and writes. Each of its rules works around
// something that was read in the library's source or measured:
//
//   - it reads through a buffer, and writes through an outbox: the library reads every frame in two,
//     and writes each by itself;
//   - it bounds and checks a frame before the library sees it (replies.go);
//   - it clamps the deadlines of the handshake, which the library sets to 6.7 session timeouts;
//   - a failed write closes the connection and reports success: an error while credentials are sent
//     again wedges the library for good (its PR 163). The "written" requests fail when the library
//     finds the connection closed;
//   - it closes the connection when reading fails, so that a blocked write ends at once;
//   - it makes the SASL exchange, after which the library sees the connect reply;
//   - it shows the connect request and reply to the epoch guard, and lets watches and containers be
//     put in;
//   - it follows the requests that go by way of the leader, and sends some of its own (package
//     lease);
//   - it follows the watches at the server, and sends removeWatches, which the library does not know.
//
// The library writes every frame with one Write, and one at a time; it reads on one goroutine.
type transport struct {
	net.Conn
	server   string
	reader   *bufio.Reader
	guard    *epochGuard
	wants    *wantedRequests
	standing standingWatches
	observer transportObserver
	lease    *lease.Connection
	asked    asked

	order   chan struct{} // its owner sends: frames are noted in the order in which they go out
	scratch []byte        // the sender's, for a frame with a ping before it
	own     int32         // the sender's count of our own requests, for their xids

	sasl     *saslClient
	patience func() time.Duration
	held     []byte // the rest of a frame that was taken out of the reader

	out         *outbox
	unread      int   // bytes of the current frame that the library has still to read
	over        error // why nothing is read after the current frame
	requested   bool
	replied     bool
	established atomic.Bool
	deadline    time.Time
	failure     sync.Once
}

// transportObserver is told of frames, and of the connection's end, on the library's goroutines. It
// must not block.
type transportObserver interface {
	// replied: a server answered a request or ping with this error, 0 for none.
	replied(t *transport, code int32)
	// sessionEnded: the session is over, by a server's word where cause is nil, or given up.
	sessionEnded(cause error)
	// failed: the connection has failed. It comes once.
	failed(t *transport, cause error)
}

// readBuffer is the size of the transport's buffer, in bytes. A larger frame has one of its own.
const readBuffer = 32 << 10

func newTransport(conn net.Conn, server string, handshake time.Duration, g *epochGuard, w *wantedRequests, o transportObserver, k *lease.Keeper) *transport {
	t := &transport{
		Conn: conn, server: server, reader: bufio.NewReaderSize(conn, readBuffer),
		guard: g, wants: w, observer: o, lease: k.Open(),
		standing: standingWatches{removals: new(watchRemovals)},
		order:    make(chan struct{}, 1), deadline: time.Now().Add(handshake),
	}
	t.lease.Send, t.lease.GiveUp = t.sendOwn, t.isMute
	return t
}

// SetReadDeadline gives the handshake our deadline: the library lifts its own before it reads the
// second part of the connect reply, and it is too long for most session timeouts, and too short for
// one far below what servers grant.
func (t *transport) SetReadDeadline(at time.Time) error {
	if !t.established.Load() {
		at = t.deadline
	}
	return t.Conn.SetReadDeadline(at)
}

// SetWriteDeadline sets the handshake's deadline. Later the outbox sets one for each write, because
// the library lifts its own before the frame is sent.
func (t *transport) SetWriteDeadline(time.Time) error {
	if t.established.Load() {
		return nil
	}
	return t.Conn.SetWriteDeadline(t.deadline)
}

// fail tells the first cause and closes the connection.
func (t *transport) fail(doing string, cause error) error {
	switch {
	case t.established.Load() || !t.requested:
	case t.replied:
		doing = "handshake"
	case hungUp(cause):
		doing, cause = "handshake", fmt.Errorf("the server hung up in place of an answer (%s): %w", t.whyHungUp(), cause)
	}
	err := fmt.Errorf("connection to %s: %s: %w", t.server, doing, cause)
	t.failure.Do(func() { t.observer.failed(t, err) })
	_ = t.Close()
	return err
}

// whyHungUp names likely causes where a server hangs up without an answer. One is older data: a
// server refuses a client that has seen a newer transaction
// (ZooKeeperServer.processConnectRequest).
func (t *transport) whyHungUp() string {
	why := "it may have no quorum, or too many connections, or be a proxy without a server behind it"
	if _, secured := t.Conn.(*tls.Conn); !secured {
		why += ", or expect TLS"
	}
	if t.guard.zxid.Load() > 0 {
		why += "; its data may be older than what this client has seen (wiped or restored)"
	}
	return why
}

func (t *transport) Close() error {
	t.lease.End()
	if t.established.Load() {
		t.out.close()
	}
	return closeSocket(t.Conn)
}

type link struct {
	mu      sync.Mutex
	current *transport
	closed  bool
}

// adopt makes t the newest, unless the link was closed. It cuts the connection before t, because
// the library leaves a connection open that told it of an expiry.
func (l *link) adopt(t *transport) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.cutLocked()
	l.current = t
	return true
}

// close refuses further transports and cuts one that has no session yet. On another the library
// says goodbye.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.current != nil && !l.current.established.Load() {
		l.cutLocked()
	}
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutLocked()
}

func (l *link) established() *transport {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil || !l.current.established.Load() {
		return nil
	}
	return l.current
}

func (l *link) cutLocked() {
	if l.current != nil {
		_ = l.current.Close()
	}
}
