package actors

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// lapse says when a lapsed ZooKeeper session (zkconn.Lapsed) is replaced: as soon as a request
// wants a lease, which only the next can give. replace.go carries it out.
//
// Slow servers may let each session lapse. Then connected sessions are replaced ever more rarely
// (back-off), until the servers are quick again: waiters keep their nodes. (With the pauses alone,
// waiters stood still for 46 s where a log had held the servers up for some seconds.) A session
// without a connection is replaced at once: it may be over, and a new one costs no more than a
// reconnect. So is one that asked for no proofs (zkconn.WithoutIdleSyncs).
type lapse struct {
	lapsed    bool // no lease may rest on the session of this epoch
	slow      bool // its servers were asked for proofs, and gave none in time
	notBefore time.Time
	pause     time.Duration
	timer     *time.Timer // until notBefore, while requests wait; else nil
	quick     time.Time   // since when every answer is quick, while the timer runs; zero: the newest was not
}

const (
	// shortestLapse and longestLapse bound the pause between replacements, in session timeouts. It
	// doubles while sessions lapse within twice the pause.
	shortestLapse = 2
	longestLapse  = 30
	// quickAnswer is the part of a session timeout within which quick servers answer: round trips
	// of an eighth give no proofs.
	quickAnswer = 24
	// recovered is the part of a session timeout for which all answers must be quick before a pause
	// ends. Heartbeats of waiters go out every sixth, or more often.
	recovered = 2
	// lapseSpread is the part of a session timeout over which sessions that lapse together, as at a
	// change of leader, are replaced.
	lapseSpread = 20
	// lastWords is the part of a session timeout in which lock actors whose lease is over end. A
	// session that no request wants then goes on, to delete nodes.
	lastWords = 100
)

func (l *lapse) lapses(slow bool) { l.lapsed, l.slow = true, slow }

func (l *lapse) lost() {
	l.slow = false
	l.endPause()
}

func (l *lapse) endPause() {
	l.quick = time.Time{}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// answered notes how long an answer took, and reports whether the servers are quick again. Answers
// come in order, so a late one shows.
func (l *lapse) answered(now time.Time, took, timeout time.Duration) (recoveredNow bool) {
	switch {
	case l.timer == nil || !l.slow:
		return false
	case took > timeout/quickAnswer:
		l.quick = time.Time{}
		return false
	case l.quick.IsZero():
		l.quick = now
	}
	return now.Sub(l.quick) >= timeout/recovered
}

func (l *lapse) earliest() (at time.Time) {
	if l.slow {
		at = l.notBefore
	}
	return at
}

func (l *lapse) replaced(now time.Time, timeout time.Duration, session int64) {
	if !l.slow {
		return
	}
	if l.pause == 0 || now.After(l.notBefore.Add(l.pause)) {
		l.pause = shortestLapse * timeout
	} else {
		l.pause = min(2*l.pause, longestLapse*timeout)
	}
	l.notBefore = now.Add(l.pause + spread(session, l.pause/4))
}

// spread gives a part of a duration by the session: jitter that a replayed history repeats.
func spread(session int64, over time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(session)))
	return time.Duration(float64(over) * float64(h.Sum32()) / (1 << 32))
}

func (l *lapse) stop() {
	l.lapsed, l.slow = false, false
	l.endPause()
}
