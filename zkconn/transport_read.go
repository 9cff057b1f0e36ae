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
	for t.unread == 0 {
		err := t.over
		if err == nil {
			err = t.nextFrame()
		}
		if err != nil {
			return 0, t.fail("read", err)
		}
	}
	p = p[:min(len(p), t.unread)]
	if t.held != nil {
		n := copy(p, t.held)
		if t.held, t.unread = t.held[n:], t.unread-n; t.unread == 0 {
			t.held = nil
		}
		return n, nil
	}
	n, err := t.reader.Read(p)
	t.unread -= n
	if err != nil {
		return n, t.fail("read", err)
	}
	return n, nil
}

// nextFrame waits for a whole frame. It takes the answer to a request of our own away.
func (t *transport) nextFrame() error {
	head, err := t.reader.Peek(lengthSize)
	if err != nil {
		return err
	}
	doing, limit, length := "frame", uint32(maxFrame), binary.BigEndian.Uint32(head)
	if !t.established.Load() {
		doing, limit = "connect reply", maxConnectReply
	}
	if length > limit {
		return fmt.Errorf("server sent a %s of %d bytes, the limit is %d", doing, length, limit)
	}
	var frame []byte
	if size := lengthSize + int(length); size <= t.reader.Size() {
		frame, err = t.reader.Peek(size)
	} else {
		frame, err = readWhole(t.reader, size)
		t.held = frame
	}
	if err != nil {
		return err
	}
	t.unread = len(frame)
	if !t.established.Load() {
		return t.lookAtConnectReply(frame)
	}
	ours, err := t.lookAtReply(frame)
	if err == nil && ours {
		err = t.discard()
	}
	return err
}

func (t *transport) discard() (err error) {
	if t.held == nil {
		_, err = t.reader.Discard(t.unread)
	}
	t.held, t.unread = nil, 0
	return err
}

func (t *transport) lookAtReply(frame []byte) (ours bool, err error) {
	reply := frame[lengthSize:]
	if len(reply) < replyHeaderSize {
		return false, fmt.Errorf("server sent a frame of %d bytes, a reply has at least %d", len(reply), replyHeaderSize)
	}
	q, err := t.asked.checkReply(reply)
	if err != nil {
		return false, err
	}
	xid, body := int32(binary.BigEndian.Uint32(reply)), reply[replyHeaderSize:]
	if xid == xidEvent {
		t.guard.behind.Store(true)
		t.standing.fired(reply)
		return false, nil
	}
	code := int32(binary.BigEndian.Uint32(reply[replyHeaderSize-4:]))
	if q.op == opCloseSession && code == 0 {
		t.guard.closed.Store(true)
	}
	zxid := int64(binary.BigEndian.Uint64(reply[4:]))
	t.guard.toldOf(zxid)
	if q.watch.path != "" {
		t.standing.answered(q.watch, q.op, code)
	}
	if q.want != nil && q.want.op == opCreate && code == 0 {
		q.want.answered(q.op, zxid, body)
	}
	if err := t.weigh(q.op, xid, code, body); err != nil {
		return false, err
	}
	t.observer.replied(t, code)
	return xid <= xidOwn, nil
}

// weigh adds an answer to the evidence for the lease, before the caller sees it. An error ends the
// connection.
func (t *transport) weigh(op, xid, code int32, body []byte) error {
	v := verdictOf(code)
	if op == opMulti && code == 0 {
		v = verdictOfParts(body)
	}
	t.lease.Replied(xid, v == decided)
	switch v {
	case ended:
		t.observer.sessionEnded(nil)
		return zk.ErrSessionExpired
	case moved:
		t.over = zk.ErrSessionMoved // the caller is told first: this request was not executed
	}
	return nil
}

func (t *transport) lookAtConnectReply(frame []byte) error {
	t.replied = true
	reply, err := parseConnectReply(frame[lengthSize:])
	if err != nil {
		return err
	}
	if err := t.guard.mayGrant(reply); err != nil {
		t.refuseGrant(reply, err)
		return err
	}
	again := t.guard.sessionID.Load() != 0
	if err := t.begin(frame, &reply); err != nil {
		return err
	}
	if err := t.guard.granted(reply); err != nil {
		return err
	}
	t.out = newOutbox(t.Conn, t.guard.sessionTimeout, func(cause error) { _ = t.fail("write", cause) }) // see the type's comment on failed writes
	t.established.Store(true)
	t.lease.Begin(again && reply.sessionID != 0)
	return nil
}

func (t *transport) isMute(after time.Duration) {
	_ = t.fail("read", fmt.Errorf("%w: a server that was connected %v ago does not answer", os.ErrDeadlineExceeded, after))
}

// refuseGrant ends the session where a server has handed out another: it would hand out one more at
// each attempt. The new session is closed.
func (t *transport) refuseGrant(reply connectReply, cause error) {
	if !errors.Is(cause, ErrOtherSession) {
		return
	}
	_ = t.Conn.SetDeadline(time.Now().Add(min(max(reply.timeout/3, shortestHandshake), longestFarewell)))
	if t.discard() == nil {
		if _, err := t.Conn.Write(closeSessionFrame()); err == nil {
			_ = awaitFarewell(t.reader)
		}
	}
	t.observer.sessionEnded(cause)
}

// begin begins the session that a connect reply grants; with SASL, once the exchange has succeeded.
// The library reads frame, and so the timeout that counts.
func (t *transport) begin(frame []byte, reply *connectReply) error {
	if reply.sessionID == 0 {
		return nil
	}
	if t.guard.sessionID.Load() != 0 {
		reply.timeout = t.lease.Granted(reply.timeout)
		binary.BigEndian.PutUint32(frame[lengthSize+4:], uint32(reply.timeout/time.Millisecond))
	}
	if t.sasl != nil {
		if err := t.authenticate(frame); err != nil {
			return err
		}
	}
	reply.timeout = t.lease.Connected(reply.timeout)
	return nil
}

// authenticate makes the SASL exchange. A new session is noted only after success: otherwise the
// library would not know it, and ask for another at the next connection. The unused one expires.
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
