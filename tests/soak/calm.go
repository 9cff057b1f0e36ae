package main

// A wake-up that is lost shows only in time that passes: the waiter's slow poll, about once a session timeout,
// finds out that the lock is its own, and the library counts that. While servers and networks fail a poll may
// be right to be first. So before every quiet point nothing is broken for a while: in that time, after what was
// broken before is over, no poll may be needed.

// calmSessions is how many session timeouts the calm lasts, and calmSettle how many of them are for what was
// broken before: a poll comes once a session timeout, which some servers allow to be twice as long.
const (
	calmSessions = 6
	calmSettle   = 4
)

// calm notes that nothing is broken from now on, or that the next fault may come.
func (j *judge) calm(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calmSince = 0
	if on {
		j.calmSince = now()
	}
}

// polled takes a client's count of polls that were needed between two instants. The judge is locked.
func (j *judge) polled(r report) {
	j.polls += r.Count
	if j.calmSince == 0 || r.Call < j.calmSince+calmSettle*int64(j.session) {
		return
	}
	for range r.Count {
		j.violation(lostWakeUps, "client %d.%d: a waiter found out only by the slow poll that the lock was its own, between %d and %d",
			r.From.Client, r.From.Incarnation, r.Call, r.At)
	}
}
