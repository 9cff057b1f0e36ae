package zkconn

import (
	"fmt"
	"os"
	"time"
)

// A connection that a server has granted, and on which nothing is answered. A session that somebody else ends while its
// client reconnects leaves one behind: the server has forgotten whom it belongs to. Its client would go on with a lease
// until the library gives the connection up, after two thirds of the session timeout (4.9 s of 10 s were seen beside the
// next holder). So it dials anew sooner, and hears that the session is over.

const (
	// mutePart is the part of a session timeout after which a new connection is given up that has answered nothing. It is
	// longer than the round trips with which a session can be kept (a seventh).
	mutePart = 4
	// mutePatience is the part for which a request must have waited by then. A holder's goes out behind the connect reply.
	mutePatience = 6
)

// watchForMute looks at a reconnection after a while, where a lease is to last. It does so once, until an answer has come:
// servers that are slow, and not mute, would be dialed over and over.
func (t *transport) watchForMute(timeout time.Duration) {
	t.mute.Store(time.AfterFunc(timeout/mutePart, func() {
		if t.trips.mute(timeout / mutePatience) {
			_ = t.fail("read", fmt.Errorf("%w: no answer since it was connected, %v ago", os.ErrDeadlineExceeded, timeout/mutePart))
		}
	}))
}

// heard ends the watch: the server answers.
func (t *transport) heard() {
	if watch := t.mute.Swap(nil); watch != nil {
		watch.Stop()
	}
}

// mute tells whether a connection without an answer is to be given up. It says so once between two answers.
func (r *roundTrips) mute(patience time.Duration) bool {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	q := &k.quiet
	if !k.leased || q.redialed || !q.lasts || time.Duration(k.clock.now()-q.since) < patience {
		return false
	}
	q.redialed = true
	return true
}
