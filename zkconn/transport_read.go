package zkconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-zookeeper/zk"
)

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

// oneFrame waits for a frame. It takes the answers to our own requests away.
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
		if frame, err = t.reader.Peek(min(lengthSize+length, maxJudged)); err == nil {
			t.standing.fired(frame[lengthSize:])
		}
		return false, err
	}
	code := int32(binary.BigEndian.Uint32(frame[lengthSize+replyHeaderSize-4:]))
	if farewell := t.farewell.Load(); farewell != 0 && int64(xid) == farewell && code == 0 {
		t.guard.closed.Store(true)
	}
	zxid := int64(binary.BigEndian.Uint64(frame[lengthSize+4:]))
	t.guard.toldOf(zxid)
	t.standing.answered(xid, code)
	if err := t.tellBirth(xid, zxid, code, length); err != nil {
		return false, err
	}
	if err := t.weigh(xid, code, length); err != nil {
		return false, err
	}
	t.observer.replied(t, code)
	return isOwn(xid), nil
}

// weigh adds an answer to the evidence for the lease, before the library and the caller see it. An
// error ends the connection.
func (t *transport) weigh(xid, code int32, length int) error {
	v := verdictOf(code)
	if t.multis.answered(xid) && code == 0 {
		body, err := t.reader.Peek(min(lengthSize+length, maxJudged))
		if err != nil {
			return err
		}
		v = verdictOfParts(body[lengthSize+replyHeaderSize:])
	}
	t.trips.replied(xid, v)
	switch v {
	case ended:
		t.observer.sessionEnded(t, nil)
		return zk.ErrSessionExpired
	case moved:
		t.over = zk.ErrSessionMoved // the caller is told first: this request was not executed
	}
	return nil
}

// tellBirth passes the reply to a create on to callers that want to know its czxid. Of the reply to
// a transaction the beginning is enough, where the whole does not fit the buffer.
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
	t.keepalive.send = t.sendOwn
	t.keepalive.begin()
	if again && reply.sessionID != 0 {
		t.mute.begin(reply.timeout, t.trips.keeper.mute, func(after time.Duration) {
			_ = t.fail("read", fmt.Errorf("%w: a server that was connected %v ago does not answer", os.ErrDeadlineExceeded, after))
		})
	}
	return nil
}

// refuseGrant ends the session where a server has handed out another: it does not know ours, and would hand out one more
// at each attempt. The new session is closed, so that none is left behind.
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
// frame is the reply, which the library reads: so it learns the timeout that counts.
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

// authenticate makes the SASL exchange, with the session that the connect reply grants: servers know one connection
// of it by now. A session that is new is noted only when the exchange has succeeded. Otherwise the library would
// not know it: it asks for another one at the next connection, and this one, in which nothing was done, expires.
func (t *transport) authenticate(connectReply []byte) error {
	t.held = bytes.Clone(connectReply)
	if _, err := t.reader.Discard(len(connectReply)); err != nil {
		return err
	}
	if err := t.Conn.SetDeadline(time.Now().Add(t.patience())); err != nil {
		return err
	}
	if err := t.sasl.run(t.Conn, t.reader); err != nil {
		return err
	}
	t.sasl = nil
	return t.Conn.SetDeadline(time.Time{})
}
