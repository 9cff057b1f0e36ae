package zkconn

import (
	"encoding/binary"
	"time"
)

// Write passes one frame on. It fails only for a connect request that the epoch guard refuses.
func (t *transport) Write(p []byte) (int, error) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	frame := p
	if t.requested {
		frame = nameContainerOp(t.watches.setWatchByte(p, &t.standing))
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
		_ = t.out.put(frame, t.sendBy.get()) // fails when the connection is closed, which the library finds by reading
	} else if _, err := t.Conn.Write(frame); err != nil {
		_ = t.fail("write", err)
	}
	return len(p), nil
}

// withEvidence follows a frame that goes out next, and puts a ping in front of a request after a silence, which makes it
// better evidence. Its caller has its turn in order.
func (t *transport) withEvidence(frame []byte) []byte {
	op := requestOp(frame)
	if op == 0 || !t.established.Load() || !t.notes(frame) {
		return frame
	}
	t.scratch = append(append(t.scratch[:0], pingFrame...), frame...)
	return t.scratch
}

// sendOwn sends a request of the keepalive.
func (t *transport) sendOwn(committed bool) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	frame := syncFrame
	if committed {
		frame = checkFrame
	}
	t.putOwn(t.ownXid(), frame)
}

// removeWatch asks the server to forget a watch, unless it is wanted again.
func (t *transport) removeWatch(w watch) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	if xid := t.ownXid(); t.standing.removes(xid, w) {
		t.putOwn(xid, removeWatchFrame(w))
	}
}

// ownXid numbers a request of our own: the answer to a request that is not followed must not be taken for the answer to a
// later one. Its caller has its turn in order, and so has putOwn's.
func (t *transport) ownXid() int32 {
	xid := xidOwn - t.own
	t.own = (t.own + 1) % (1 << 30)
	return xid
}

// putOwn sends a request of our own.
func (t *transport) putOwn(xid int32, frame []byte) {
	t.scratch = append(append(t.scratch[:0], pingFrame...), frame...)
	frame = t.scratch[len(pingFrame):]
	binary.BigEndian.PutUint32(frame[lengthSize:], uint32(xid))
	if t.notes(frame) {
		frame = t.scratch
	}
	_ = t.out.put(frame, time.Now().Add(t.guard.sessionTimeout())) // see Write
}

// notes records a request that goes out next. It reports whether a ping should go out before it. Its caller has its turn in
// order.
func (t *transport) notes(frame []byte) (pingFirst bool) {
	op, xid := requestOp(frame), requestXid(frame)
	if op != opPing {
		t.asked.sends(op, xid, len(frame))
	}
	return t.trips.sending(op, xid)
}
