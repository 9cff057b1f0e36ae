package main

import "time"

// A wake-up that is lost shows only in time that passes: the waiter's slow poll, about once a session timeout,
// finds out that the lock is its own, and the library counts that. A poll may also be first by chance, while the
// event is on its way; then it comes within moments of the release. And while servers and networks fail it may be
// right to be first. So before every quiet point nothing is broken for a while. In that time, after what was broken
// before is over, no lock may be free and waited for until a poll finds out.

const (
	// The calm lasts calmSessions session timeouts. The first calmSettle of them are for recovery
	// from earlier faults: a poll comes once a session timeout, which some servers allow to be
	// twice as long.
	calmSessions = 6
	calmSettle   = 4
	// A grant is late when the lock was free and waited for, for longer than this part of a session timeout, and for
	// longer than a busy machine takes for a release, an event and a listing.
	lateFraction = 4
	lateLeast    = time.Second
	// In the calm this process looks at the clock each lookEvery. Where it finds that it was held up for longer than
	// heldUp, so was everybody else on this machine: a poll and the event before it are then due at the same moment, and
	// the poll may be first.
	lookEvery = 20 * time.Millisecond
	heldUp    = lateLeast / 4
)

// calm notes that nothing is broken from now on, or that the next fault may come.
func (j *judge) calm(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calmSince, j.calmSeen = 0, 0
	if on {
		j.calmSince, j.calmSeen = j.clock(), j.clock()
	}
}

// stillCalm is called each lookEvery of the calm. A machine that was held up settles anew.
func (j *judge) stillCalm() {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := j.clock()
	if j.wasHeldUp(at) {
		j.calmSince = at
		j.heldUps++
	}
	j.calmSeen = at
}

// wasHeldUp reports whether the last look was too long ago. The judge is locked.
func (j *judge) wasHeldUp(at int64) bool { return at-j.calmSeen > int64(heldUp) }

// lateGrant notes a grant of a lock that was free for too long. The judge is locked.
func (j *judge) lateGrant(g *grant, free time.Duration) {
	if free > max(j.session/lateFraction, lateLeast) {
		j.lateGrants[g.by.Client] = g.at
	}
}

// polled takes a client's count of polls that were needed between two instants. The judge is locked.
func (j *judge) polled(r report) {
	j.polls += r.Count
	late := j.lateGrants[r.From.Client]
	if j.calmSince == 0 || j.wasHeldUp(j.clock()) || r.Call < j.calmSince+calmSettle*int64(j.session) || late < r.Call || late > r.At {
		return
	}
	j.violation(lostWakeUps, "client %d.%d: only the slow poll told a waiter that the lock was its own, late, at %d",
		r.From.Client, r.From.Incarnation, late)
}
