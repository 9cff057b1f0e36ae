package zkconn

import (
	"encoding/binary"
	"sync"
	"time"
)

// keepalive sends requests of our own on a connection on which too few go by way of the leader: without them there is no
// evidence that the session lives (package evidence says how many are needed). They are syncs, which commit nothing, and
// transactions that change nothing where a lease needs more of them. The library does not see their answers.
type keepalive struct {
	mu    sync.Mutex
	timer *time.Timer // nil before the connection has its session
	ended bool
	sent  int32 // how many, for their xids
}

// shortestKeepalive keeps a timer that is early from firing over and over.
const shortestKeepalive = time.Millisecond

// beginKeepalive begins once the session is established.
func (t *transport) beginKeepalive() {
	k := &t.keepalive
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.timer = time.AfterFunc(t.untilKeepalive(), t.keepAlive)
	}
}

// untilKeepalive gives when the next is due.
func (t *transport) untilKeepalive() time.Duration {
	in, _, some := t.trips.next()
	if !some {
		return t.guard.sessionTimeout() // KeepLease may change that
	}
	return max(in, shortestKeepalive)
}

// keepAlive sends one if it is due, and sets the timer anew.
func (t *transport) keepAlive() {
	if in, committed, some := t.trips.next(); some && in <= 0 {
		t.sendOwn(committed)
	}
	k := &t.keepalive
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.timer.Reset(t.untilKeepalive())
	}
}

func (t *transport) sendOwn(committed bool) {
	t.order <- struct{}{}
	defer func() { <-t.order }()
	// An xid of its own: the answer to a request that is not followed must not pass for that to a later one.
	xid := xidOwn - t.keepalive.sent
	t.keepalive.sent = (t.keepalive.sent + 1) % (1 << 30)
	frame := syncFrame
	if committed {
		frame = checkFrame
	}
	t.scratch = t.scratch[:0]
	if t.notes(requestOp(frame), xid) {
		t.scratch = append(t.scratch, pingFrame...)
	}
	at := len(t.scratch) + lengthSize
	t.scratch = append(t.scratch, frame...)
	binary.BigEndian.PutUint32(t.scratch[at:], uint32(xid))
	_ = t.out.put(t.scratch, time.Now().Add(t.guard.sessionTimeout())) // see Write
}

// leaseIsKept has the keepalive look again: a lease needs more.
func (t *transport) leaseIsKept() {
	k := &t.keepalive
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer != nil && !k.ended {
		k.timer.Reset(t.untilKeepalive())
	}
}

func (k *keepalive) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	if k.timer != nil {
		k.timer.Stop()
	}
}

// pingFrame is what the library sends every third of a session timeout.
var pingFrame = requestFrame(xidPing, opPing, nil)

// The path of these is of no importance: it may not exist, and its ACL may forbid to look at it.
var (
	syncFrame = requestFrame(xidOwn, opSync, onRoot)
	// checkFrame is a multi of one part, a check of any version, and the mark behind the last part.
	checkFrame = requestFrame(xidOwn, opMulti, append(append(partHeader(opCheck, false),
		append(onRoot, 0xff, 0xff, 0xff, 0xff)...), partHeader(typeOfError, true)...))
	onRoot = []byte{0, 0, 0, 1, '/'}
)

// partHeader is what stands before a part of a multi.
func partHeader(op int32, last bool) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(op))
	if last {
		header = append(header, 1)
	} else {
		header = append(header, 0)
	}
	return append(header, 0xff, 0xff, 0xff, 0xff)
}

func requestFrame(xid, op int32, body []byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(requestHeaderSize-lengthSize+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(xid))
	frame = binary.BigEndian.AppendUint32(frame, uint32(op))
	return append(frame, body...)
}
