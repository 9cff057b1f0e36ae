package zkconn

import (
	"sync"
	"time"
)

// keepalive sends requests of our own on a connection on which too few go by way of the leader for
// evidence that the session lives (package evidence says how many): syncs, which commit nothing,
// and transactions that change nothing where a lease needs more of them. The library does not see
// their answers.
type keepalive struct {
	trips   *roundTrips
	timeout func() time.Duration
	send    func(committed bool)

	mu    sync.Mutex
	timer *time.Timer // nil before the connection has its session
	ended bool
}

// shortestKeepalive: a timer that fires early would otherwise fire again and again.
const shortestKeepalive = time.Millisecond

func (k *keepalive) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.timer = time.AfterFunc(k.until(), k.keepAlive)
	}
}

func (k *keepalive) until() time.Duration {
	in, _, some := k.trips.next()
	if !some {
		return k.timeout() // KeepLease may change that
	}
	return max(in, shortestKeepalive)
}

func (k *keepalive) keepAlive() {
	if in, committed, some := k.trips.next(); some && in <= 0 {
		k.send(committed)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.timer.Reset(k.until())
	}
}

// leaseIsKept sets the timer anew, because a lease needs more requests.
func (k *keepalive) leaseIsKept() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer != nil && !k.ended {
		k.timer.Reset(k.until())
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

// pingFrame is the ping that the library sends every third of a session timeout.
var pingFrame = requestFrame(xidPing, opPing, nil)

// Their path is of no importance: it may not exist, and its ACL may forbid to look at it.
var (
	syncFrame = requestFrame(xidOwn, opSync, onRoot)
	// checkFrame is a multi of one part, a check of any version, and the mark behind the last part.
	checkFrame = requestFrame(xidOwn, opMulti, append(append(partHeader(opCheck, false),
		append(onRoot, 0xff, 0xff, 0xff, 0xff)...), partHeader(typeOfError, true)...))
	onRoot = []byte{0, 0, 0, 1, '/'}
)
