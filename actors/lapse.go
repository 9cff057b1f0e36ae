package actors

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// lapse replaces a ZooKeeper session on which no lease may rest any more (zkconn.Lapsed). Requests are granted again in
// the next one only, so it begins as soon as a request wants a lease. Without one nothing is urgent: the session stays
// and is replaced when the next request comes.
//
// Slow servers may let each session lapse. Then connected sessions are replaced less and less often (back-off): waiters
// keep their nodes, and the servers are spared. The pause ends as soon as the servers are quick again. Otherwise waiters
// would sit out half a minute of pauses and more: 46 s where a log had held the servers up for some seconds.
//
// A session without a connection is replaced at once: it may be over already, and a new session costs the servers no more
// than a reconnect. So is a session that lapsed because it asked for no proofs: see zkconn.WithoutIdleSyncs.
type lapse struct {
	lapsed    bool // no lease may rest on the session of this epoch
	slow      bool // its servers were asked for proofs all the time, and gave none in time
	notBefore time.Time
	pause     time.Duration // after the newest replacement, until notBefore; zero before there was one
	timer     *time.Timer   // until then, while requests wait; nil without
	quick     time.Time     // since when every answer has come at once, while the timer runs; zero: the newest did not
}

const (
	// shortestLapse and longestLapse bound the pause between two replacements of connected sessions, in session timeouts.
	// It doubles as long as sessions lapse within twice the pause.
	shortestLapse = 2
	longestLapse  = 30
	// quickAnswer is the part of a session timeout within which servers answer that are quick enough for proofs: round trips
	// of an eighth are not.
	quickAnswer = 24
	// recovered is the part of a session timeout for which all answers must be quick before a pause ends. Heartbeats of
	// waiters go out every sixth, or more often.
	recovered = 2
	// lapseSpread is the part of a session timeout over which sessions that lapse together, as at a change of leader, are
	// replaced.
	lapseSpread = 20
	// lastWords is the part of a session timeout in which lock actors whose lease is over end.
	// Requests that are left then want another session, and it is replaced. A session that no
	// request wants goes on, and may still delete the nodes of ended ones.
	lastWords = 100
)

// lapses: the session has lapsed. slow: its servers were asked for proofs.
func (l *lapse) lapses(slow bool) { l.lapsed, l.slow = true, slow }

// lost: the connection is, and with it the reason to wait.
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

// answered notes how long the servers took for an answer, and reports whether they are quick again.
// Answers come in the order of the requests, so one that is late shows itself, too.
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

// earliest gives the earliest time at which a connected session may be replaced.
func (l *lapse) earliest() (at time.Time) {
	if l.slow {
		at = l.notBefore
	}
	return at
}

// replaced notes that a connected session was replaced. Pauses grow while slow servers make that go on.
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

// spread gives a part of a duration, which differs from session to session: jitter that is the same when a history is
// played again.
func spread(session int64, over time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(session)))
	return time.Duration(float64(over) * float64(h.Sum32()) / (1 << 32))
}

// lapsed: no lease may rest on the session any more.
func (s *session) lapsed(ev zkconn.Event) {
	s.lapse.lapses(s.phase.connected() && s.askedForProofs())
	s.phase.lapsed()
	s.log.Warn("session lapsed: its servers have not proved in time that it lives, and no lock is granted in it any more",
		s.logged(logkeys.Server, ev.Server, logkeys.Timeout, ev.Timeout)...)
	s.apply(coordinator.Lapsed{})
	if !s.decides.Wanted() {
		return
	}
	wait := s.info.timeout / lastWords
	if s.lapse.slow { // as all sessions may be at a change of leader
		wait += spread(s.info.session, s.info.timeout/lapseSpread)
	}
	s.replaceSoon(wait)
}

// askedForProofs reports whether the connection has asked the servers for proofs for long enough: one takes a third of a
// session timeout, and four round trips.
func (s *session) askedForProofs() bool {
	return s.cfg.IdleSyncs() || s.counts.Busy && time.Since(s.kept) > s.info.timeout/2
}

// replaceIfLapsed replaces a session that has lapsed, because a request comes.
func (s *session) replaceIfLapsed() {
	if s.lapse.lapsed && s.lapse.timer == nil {
		s.replaceSoon(0)
	}
}

// replaceSoon replaces the session after a while, or when it may be replaced.
func (s *session) replaceSoon(wait time.Duration) {
	if s.phase.connected() {
		wait = max(wait, time.Until(s.lapse.earliest()))
	} else {
		wait = min(wait, s.info.timeout/lastWords)
	}
	if wait <= 0 {
		s.replace()
		return
	}
	if s.lapse.timer == nil {
		if wait > s.info.timeout {
			s.log.Warn("sessions lapse one after the other: the next begins later, and no lock is granted until then",
				s.logged(logkeys.Wait, wait)...)
		}
		root, self, epoch := s.system.Root, s.self, s.info.epoch
		s.lapse.timer = time.AfterFunc(wait, func() { root.Send(self, &pauseOver{epoch: epoch}) })
	}
}

// endPauseIfQuick replaces a session that waits for its turn once its servers have recovered. The next pause is longer all
// the same, should sessions go on lapsing.
func (s *session) endPauseIfQuick(took time.Duration) {
	now := time.Now()
	if !s.lapse.answered(now, took, s.info.timeout) {
		return
	}
	s.lapse.endPause()
	s.lapse.notBefore = now
	s.log.Info("servers are quick again: the session that has lapsed is replaced", s.logged()...)
	if s.decides.Wanted() {
		s.replaceSoon(spread(s.info.session, s.info.timeout/lapseSpread))
	}
}

// lapsePauseOver: the session may be replaced, if a request still wants that.
func (s *session) lapsePauseOver() {
	s.lapse.timer = nil
	if s.decides.Wanted() {
		s.replaceSoon(0)
	}
}

// replace ends the epoch, and so begins the next session.
func (s *session) replace() {
	if s.phase.connected() {
		s.lapse.replaced(time.Now(), s.info.timeout, s.info.session)
	}
	s.figures.Expired()
	s.log.Warn("session replaced", s.logged()...)
	s.apply(coordinator.Expired{})
}

// stop is for the end of an epoch, and of the session.
func (l *lapse) stop() {
	l.lapsed, l.slow = false, false
	l.endPause()
}
