package zkconn

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// leaseKeeper extends a LeaseClock with what the newest connection of a session shows.
type leaseKeeper struct {
	clock *LeaseClock
	tick  time.Duration // of the servers, 0 where it is not known
	list  *shortestTimeout

	mu      sync.Mutex
	granted time.Duration // the shortest timeout of this session so far; 0 before there was one
	newest  *roundTrips
}

// roundTrips follows the requests of one connection that go by way of the leader.
type roundTrips struct {
	keeper   *leaseKeeper
	opening  instant // when the connect request went out
	accepted bool    // it was answered
	evidence evidence
	lastSent instant  // when the newest packet went out
	flights  []flight // requests without an answer, in the order in which they went out: answers come in that order
}

// flight is a request under way.
type flight struct {
	xid       int32
	committed bool // its answer is that of a committed transaction
	touched   instant
	sent      instant
}

// maxFlights bounds the requests that are followed; servers accept some thousand of one connection. Those beyond it are
// no evidence.
const maxFlights = 1 << 14

func newLeaseKeeper(cfg Config) *leaseKeeper {
	return &leaseKeeper{clock: NewLeaseClock(cfg.suspended), tick: cfg.serverTick, list: cfg.shortest}
}

// connecting begins to follow a connection: its connect request goes out next. Nothing of an older connection counts any
// more. The server may grant, and the leader may go by, the shortest timeout that any server of the list grants, whether
// or not the answer ever comes.
func (r *roundTrips) connecting() {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.now()
	r.opening, r.lastSent = now, now
	shortest := k.list.with(k.granted)
	if k.newest != nil && !k.newest.accepted && k.granted > 0 {
		k.granted = shortest // the request before this one may reach the leader at any time
	}
	k.newest = r
	if shortest > 0 {
		k.clock.shorten(now.plus(leaseOf(shortest)))
	}
}

// leaseOf is how long a touch is good for.
func leaseOf(timeout time.Duration) time.Duration { return timeout - fractionOf(timeout, margin) }

// connected takes the timeout that a server granted. A session that may be expiring is given time to show it: its first
// transactions count later, see the package doc. It gives the one that counts: the shortest so far, because a new
// leader starts a session with the timeout that it was created with, and the leader goes by that of the last touch.
func (r *roundTrips) connected(granted time.Duration) time.Duration {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	expiring := k.granted > 0 && !k.clock.Valid()
	if k.granted == 0 || granted < k.granted {
		k.granted = granted
	}
	k.list.note(granted)
	r.accepted = true
	opened := roundTrip{touched: r.opening, sent: r.opening, answered: k.clock.now()}
	r.evidence = newEvidence(k.granted, k.tick, opened)
	if expiring {
		r.evidence.opened.answered = opened.answered.plus(r.evidence.settle)
	}
	k.clock.shorten(r.opening.plus(leaseOf(k.granted)))
	return k.granted
}

// sending takes note of a packet that goes out next. It says whether a ping should go out before it: a request by way of
// the leader is worth as much as the packet before it, see the package doc.
func (r *roundTrips) sending(op, xid int32) (pingFirst bool) {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.now()
	before := r.lastSent
	r.lastSent = now
	if !byWayOfLeader(op) || len(r.flights) == maxFlights {
		return false
	}
	if pingFirst = now > before.plus(2*r.evidence.grain); pingFirst {
		before = now
	}
	r.flights = append(r.flights, flight{xid: xid, committed: op != opSync, touched: before, sent: now})
	return pingFirst
}

// replied takes the answer to a request.
func (r *roundTrips) replied(xid, code int32) {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(r.flights, func(f flight) bool { return f.xid == xid })
	if i < 0 {
		return
	}
	f := r.flights[i]
	r.flights = slices.Delete(r.flights, 0, i+1)
	if k.newest != r || !decidedByLeader(code) {
		return
	}
	trip := roundTrip{touched: f.touched, sent: f.sent, answered: k.clock.now()}
	if f.committed {
		if touched, known := r.evidence.since(f.sent); known {
			k.clock.extend(touched.plus(leaseOf(k.granted)))
		}
	}
	r.evidence.add(trip)
}

// byWayOfLeader tells whether every request of this kind is answered only after the leader has handled it.
func byWayOfLeader(op int32) bool {
	switch op {
	case opCreate, opDelete, opSetData, opSetACL, opSync, opCheck, opMulti, opCreate2, opCreateContainer, opCreateTTL:
		return true
	}
	return false
}

// decidedByLeader tells whether an answer with this code is that of a transaction: a refusal is committed like any other.
// Whatever else a server says, it may say by itself: throttled, session moved, authentication required, and no permission
// (ZooKeeperServer.authWriteRequest, where zookeeper.enableEagerACLCheck is set; CommittedRefusal, which asks for less, lets
// that one pass). The refusals of a multi are in its
// parts, which need no look: servers never judge those by themselves.
func decidedByLeader(code int32) bool {
	switch code {
	case 0, codeNoNode, codeBadVersion, codeNoChildrenForEphemerals, codeNodeExists, codeNotEmpty:
		return true
	}
	return false
}

// pingFrame is what the library sends every third of a session timeout.
var pingFrame = requestFrame(xidPing, opPing, nil)

// syncFrame goes out behind it, with an xid of its own: an idle session's evidence. The path is of no importance, and may
// not exist.
var syncFrame = requestFrame(xidIdleSync, opSync, []byte{0, 0, 0, 1, '/'})

// appendSync appends the frame of a sync.
func appendSync(to []byte, xid int32) []byte {
	at := len(to) + lengthSize
	to = append(to, syncFrame...)
	binary.BigEndian.PutUint32(to[at:], uint32(xid))
	return to
}

func requestFrame(xid, op int32, body []byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(requestHeaderSize-lengthSize+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(xid))
	frame = binary.BigEndian.AppendUint32(frame, uint32(op))
	return append(frame, body...)
}
