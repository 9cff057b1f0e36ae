package zkconn

import "encoding/binary"

// Write passes one frame on. It fails only for a connect request that the epoch guard refuses.
func (t *transport) Write(p []byte) (int, error) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	frame := p
	if t.requested {
		frame = t.follow(nameContainerOp(p)) // before it goes: an answer may come at once
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
		t.lease.Connecting()
	}
	if t.established.Load() {
		_ = t.out.put(frame) // fails when the connection is closed, which the library finds by reading
	} else if _, err := t.Conn.Write(frame); err != nil {
		_ = t.fail("write", err)
	}
	return len(p), nil
}

// follow follows a request that goes out next, sets its watch byte where wanted, and puts a ping in
// front after a silence, which makes it better evidence. Its caller has its turn in order.
func (t *transport) follow(frame []byte) []byte {
	xid, op := requestHead(frame)
	if op == 0 || !t.established.Load() {
		return frame
	}
	q := question{op: op, want: t.wants.goesOut(op, frame)}
	if q.want != nil && q.want.op != opCreate { // a read that is to leave a watch
		q.watch = watch{q.want.path, op == opGetChildren2}
		t.standing.reads(q.watch)
		frame = watched(frame)
	}
	if !t.notes(xid, frame, q) {
		return frame
	}
	t.scratch = append(append(t.scratch[:0], pingFrame...), frame...)
	return t.scratch
}

func (t *transport) sendOwn(committed bool) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	frame := syncFrame
	if committed {
		frame = checkFrame
	}
	t.putOwn(frame, watch{})
}

func (t *transport) removeWatch(w watch) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	if t.standing.removes(w) {
		t.putOwn(removeWatchFrame(w), w)
	}
}

// putOwn sends a request of our own, which may remove a watch, with a new number: an answer must
// not be taken for that to a later request. Its caller has its turn in order.
func (t *transport) putOwn(frame []byte, removes watch) {
	t.scratch = append(append(t.scratch[:0], pingFrame...), frame...)
	frame = t.scratch[len(pingFrame):]
	binary.BigEndian.PutUint32(frame[lengthSize:], uint32(xidOwn-t.own))
	t.own = (t.own + 1) % (1 << 30)
	xid, op := requestHead(frame)
	if t.notes(xid, frame, question{op: op, watch: removes}) {
		frame = t.scratch
	}
	_ = t.out.put(frame) // see Write
}

// notes records a request that goes out next. It reports whether a ping should go out before it.
// Its caller has its turn in order.
func (t *transport) notes(xid int32, frame []byte, q question) (pingFirst bool) {
	if q.op != opPing {
		q.size = len(frame)
		t.asked.sends(xid, q)
	}
	return t.lease.Sending(xid, operations[q.op].kind, xid > xidOwn)
}
