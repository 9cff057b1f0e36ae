package zkconn

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// transport is the connection that the library reads and writes. Each of its rules works around something that was
// read in the library's source or measured:
//
//   - it reads through a buffer: the library reads every frame in two;
//   - it writes through an outbox, which coalesces frames: the library writes each by itself;
//   - it bounds the length of a frame from above, and below: the library allocates whatever it is told, and panics on
//     a reply that is shorter than its header;
//   - it clamps the deadlines of the handshake, which the library sets to 6.7 session timeouts;
//   - a failed write closes the connection and reports success: an error while credentials are sent again wedges the
//     library for good (its PR 163). What was "written" fails when the library finds the connection closed;
//   - it closes the connection when reading fails, so that a blocked write ends at once rather than at its deadline;
//   - it makes the SASL exchange behind the connect reply, which the library sees when that has succeeded;
//   - it shows the connect request and reply to the epoch guard, and lets watches and containers be put in;
//   - it follows the requests that go by way of the leader, which are the evidence that the session lives, and sends
//     some of its own where the library sends too few (keepalive.go).
//
// The library writes every frame with one Write, and one at a time; it reads on one goroutine.
type transport struct {
	net.Conn
	server   string
	reader   *bufio.Reader
	guard    *epochGuard
	watches  *wantedWatches
	observer transportObserver
	trips    *roundTrips
	births   *births
	multis   multis

	order     chan struct{} // whoever has put something in sends: frames are noted in the order in which they go out
	scratch   []byte        // for a frame with a ping before it; of who sends
	keepalive keepalive

	sasl     *saslClient          // nil: none
	patience func() time.Duration // for the SASL exchange
	held     []byte               // the connect reply, which the library reads when the exchange has succeeded

	out         *outbox                   // once the session is established
	sendBy      atomic.Pointer[time.Time] // the library's newest write deadline; nil before there was one
	unread      int                       // bytes of the current frame that the library has still to read
	over        error                     // nothing is read behind the current frame, for this reason
	requested   bool                      // the connect request has passed
	replied     bool                      // the connect reply has come
	farewell    atomic.Int64              // the number of the request that closes the session; 0 before it has passed
	established atomic.Bool
	mute        atomic.Pointer[time.Timer] // looks whether anything is answered; nil once something was
	deadline    time.Time                  // of the handshake
	failure     sync.Once
}

// transportObserver is told what passes. Its methods run on the library's goroutines and must not block.
type transportObserver interface {
	// replied: a server answered a request or ping; code is its error, 0 when there was none.
	replied(t *transport, code int32)
	// passes: a request goes out next, before all that are handed over from now on. The frame is valid during the call.
	passes(frame []byte)
	// sessionEnded: there is nothing more to be had from the session. cause is nil where a server has said that it is over.
	sessionEnded(t *transport, cause error)
	// failed: the connection is of no use any more; once.
	failed(t *transport, cause error)
}

func newTransport(conn net.Conn, server string, handshake time.Duration, g *epochGuard, w *wantedWatches, o transportObserver, k *leaseKeeper) *transport {
	return &transport{
		Conn: conn, server: server, reader: bufio.NewReaderSize(conn, maxJudged),
		guard: g, watches: w, observer: o, trips: &roundTrips{keeper: k}, order: make(chan struct{}, 1), deadline: time.Now().Add(handshake),
	}
}

// Read gives bytes of one frame at most.
func (t *transport) Read(p []byte) (int, error) {
	if t.unread == 0 {
		if err := t.nextFrame(); err != nil {
			return 0, t.fail("read", err)
		}
	}
	p = p[:min(len(p), t.unread)]
	if len(t.held) > 0 {
		n := copy(p, t.held)
		t.held = t.held[n:]
		t.unread -= n
		return n, nil
	}
	n, err := t.reader.Read(p)
	t.unread -= n
	if err != nil {
		return n, t.fail("read", err)
	}
	return n, nil
}

// nextFrame waits for a frame that is the library's, and looks at its beginning.
func (t *transport) nextFrame() error {
	for {
		if t.over != nil {
			return t.over
		}
		if ours, err := t.oneFrame(); err != nil || !ours {
			return err
		}
	}
}

// oneFrame waits for a frame. It takes the answers to our own syncs away.
func (t *transport) oneFrame() (ours bool, err error) {
	head, err := t.reader.Peek(lengthSize)
	if err != nil {
		return false, err
	}
	length := binary.BigEndian.Uint32(head)
	if length > maxFrame {
		return false, fmt.Errorf("server sent a frame of %d bytes, the limit is %d", length, maxFrame)
	}
	if t.established.Load() {
		ours, err = t.lookAtReply(int(length))
	} else {
		err = t.lookAtConnectReply(int(length))
	}
	switch {
	case err != nil:
		return false, err
	case ours:
		_, err = t.reader.Discard(lengthSize + int(length))
		return true, err
	}
	t.unread = lengthSize + int(length)
	return false, nil
}

func (t *transport) lookAtReply(length int) (ours bool, err error) {
	if length < replyHeaderSize {
		return false, fmt.Errorf("server sent a frame of %d bytes, a reply has at least %d", length, replyHeaderSize)
	}
	frame, err := t.reader.Peek(lengthSize + replyHeaderSize)
	if err != nil {
		return false, err
	}
	xid := int32(binary.BigEndian.Uint32(frame[lengthSize:]))
	if xid == xidEvent {
		t.guard.behind.Store(true)
		return false, nil
	}
	code := int32(binary.BigEndian.Uint32(frame[lengthSize+replyHeaderSize-4:]))
	if farewell := t.farewell.Load(); farewell != 0 && int64(xid) == farewell && code == 0 {
		t.guard.closed.Store(true)
	}
	zxid := int64(binary.BigEndian.Uint64(frame[lengthSize+4:]))
	t.guard.toldOf(zxid)
	if err := t.tellBirth(xid, zxid, code, length); err != nil {
		return false, err
	}
	if err := t.judge(xid, code, length); err != nil {
		return false, err
	}
	t.observer.replied(t, code)
	return xid <= xidOwn, nil
}

// judge takes an answer for what it proves, before the library hears of it, and whoever asked. An error ends the
// connection.
func (t *transport) judge(xid, code int32, length int) error {
	v := verdictOf(code)
	if t.multis.answered(xid) && code == 0 {
		body, err := t.reader.Peek(min(lengthSize+length, maxJudged))
		if err != nil {
			return err
		}
		v = verdictOfParts(body[lengthSize+replyHeaderSize:])
	}
	t.heard()
	t.trips.replied(xid, v)
	switch v {
	case ended:
		t.observer.sessionEnded(t, nil)
		return zk.ErrSessionExpired
	case moved:
		t.over = zk.ErrSessionMoved // whoever asked is told first: this request was not executed
	}
	return nil
}

// tellBirth shows the reply to a create to those who want to know its czxid. Of the reply to a transaction the beginning
// is enough, where the whole does not fit the buffer.
func (t *transport) tellBirth(xid int32, zxid int64, code int32, length int) error {
	if t.births == nil || code != 0 || !t.births.awaits(xid) {
		return nil
	}
	frame, err := t.reader.Peek(min(lengthSize+length, t.reader.Size()))
	if err == nil {
		t.births.answered(xid, zxid, frame[lengthSize+replyHeaderSize:])
	}
	return err
}

// lookAtConnectReply waits for the whole of it: it fits the buffer, being some forty bytes.
func (t *transport) lookAtConnectReply(length int) error {
	if length > maxConnectReply {
		return fmt.Errorf("server sent a connect reply of %d bytes, the limit is %d", length, maxConnectReply)
	}
	frame, err := t.reader.Peek(lengthSize + length)
	if err != nil {
		return err
	}
	t.replied = true
	reply, err := parseConnectReply(frame[lengthSize:])
	if err != nil {
		return err
	}
	if err := t.guard.mayGrant(reply); err != nil {
		t.refuseGrant(reply, length, err)
		return err
	}
	again := t.guard.sessionID.Load() != 0
	if err := t.begin(frame, &reply); err != nil {
		return err
	}
	if err := t.guard.granted(reply); err != nil {
		return err
	}
	t.out = newOutbox(t.Conn, func(cause error) { _ = t.fail("write", cause) }) // see the type's comment on failed writes
	t.established.Store(true)
	t.beginKeepalive()
	if again && reply.sessionID != 0 {
		t.watchForMute(reply.timeout)
	}
	return nil
}

// refuseGrant ends the session where a server has handed out another: it does not know ours, and would hand out one more
// at each attempt. That one is closed, so that none is left behind.
func (t *transport) refuseGrant(reply connectReply, length int, cause error) {
	if !errors.Is(cause, ErrOtherSession) {
		return
	}
	_ = t.Conn.SetDeadline(time.Now().Add(min(max(reply.timeout/3, shortestHandshake), longestFarewell)))
	if _, err := t.reader.Discard(lengthSize + length); err == nil {
		if _, err := t.Conn.Write(closeSessionFrame()); err == nil {
			_ = awaitFarewell(t.reader)
		}
	}
	t.observer.sessionEnded(t, cause)
}

// begin has the session that a connect reply grants begin on this connection: with SASL, once its exchange has succeeded.
// frame is the reply, which the library reads: what it hears is the timeout that counts.
func (t *transport) begin(frame []byte, reply *connectReply) error {
	if reply.sessionID == 0 {
		return nil
	}
	if t.guard.sessionID.Load() != 0 {
		reply.timeout = t.trips.granted(reply.timeout)
		setConnectTimeout(frame[lengthSize:], reply.timeout)
	}
	if t.sasl != nil {
		if err := t.authenticate(frame); err != nil {
			return err
		}
	}
	reply.timeout = t.trips.connected(reply.timeout)
	return nil
}

// Write passes one frame on. It fails only for a connect request that the epoch guard refuses.
func (t *transport) Write(p []byte) (int, error) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	frame := p
	if t.requested {
		frame = nameContainerOp(t.watches.setWatchByte(p))
		if requestOp(frame) == opCloseSession {
			t.farewell.Store(int64(requestXid(frame)))
		}
		t.observer.passes(frame) // before it goes: an answer may come at once
		frame = t.withEvidence(frame)
	} else {
		t.requested = true
		sessionID, err := requestedSession(p)
		if err == nil {
			err = t.guard.mayRequest(sessionID)
		}
		if err != nil {
			return 0, t.fail("handshake", err)
		}
		frame = withoutReadOnly(p)
		t.trips.connecting()
	}
	if t.established.Load() {
		_ = t.out.put(frame, t.deadlineOfWrite()) // fails when the connection is closed, which the library finds by reading
	} else if _, err := t.Conn.Write(frame); err != nil {
		_ = t.fail("write", err)
	}
	return len(p), nil
}

// withEvidence follows a frame that goes out next, and puts a ping in front of a request after a silence, which makes it
// better evidence. Its caller has its turn in order.
func (t *transport) withEvidence(frame []byte) []byte {
	op := requestOp(frame)
	if op == 0 || !t.established.Load() || !t.notes(op, requestXid(frame)) {
		return frame
	}
	t.scratch = append(append(t.scratch[:0], pingFrame...), frame...)
	return t.scratch
}

// notes takes note of a request that goes out next. It says whether a ping should go out before it. Its caller has its turn in
// order.
func (t *transport) notes(op, xid int32) (pingFirst bool) {
	if op == opMulti {
		t.multis.sent(xid)
	}
	return t.trips.sending(op, xid)
}

// SetReadDeadline clamps the handshake's deadline, and keeps it until the connect reply is there: the library lifts
// its own before it reads the second part of it.
func (t *transport) SetReadDeadline(at time.Time) error {
	return t.Conn.SetReadDeadline(t.clamp(at))
}

// SetWriteDeadline clamps the handshake's deadline. Later ones go with the frames: the library lifts them before the
// outbox has sent those.
func (t *transport) SetWriteDeadline(at time.Time) error {
	if t.established.Load() {
		t.sendBy.Store(&at)
		return nil
	}
	return t.Conn.SetWriteDeadline(t.clamp(at))
}

func (t *transport) deadlineOfWrite() time.Time {
	if by := t.sendBy.Load(); by != nil {
		return *by
	}
	return time.Time{}
}

// SetDeadline clamps the handshake's deadlines.
func (t *transport) SetDeadline(at time.Time) error {
	return t.Conn.SetDeadline(t.clamp(at))
}

// clamp gives the handshake our deadline, whatever the library's is: too long for most session timeouts, and too short
// for one that is far below what servers grant.
func (t *transport) clamp(at time.Time) time.Time {
	if t.established.Load() {
		return at
	}
	return t.deadline
}

// Close closes the socket.
func (t *transport) Close() error {
	t.keepalive.stop()
	t.heard()
	if t.established.Load() {
		t.out.close()
	}
	return closeSocket(t.Conn)
}

// closeSocket closes a connection, also under TLS, whose own Close may wait for five seconds to say goodbye to a dead
// server.
func closeSocket(conn net.Conn) error {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn().Close()
	}
	return conn.Close()
}
