package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

func (s *session) lapsed(ev zkconn.Event) {
	// Slow servers were asked for proofs for long enough: one takes a third of a session timeout,
	// and four round trips.
	asked := s.cfg.IdleSyncs() || s.counts.Busy && time.Since(s.kept) > s.info.timeout/2
	s.lapse.lapses(asked && s.phase.connected())
	s.phase.lapsed()
	s.log.Warn("session lapsed: its servers have not proved in time that it lives, and no lock is granted in it any more",
		s.logged(logkeys.Server, ev.Server, logkeys.Timeout, ev.Timeout)...)
	s.apply(coordinator.Lapsed{}, 0)
	if !s.decides.Wanted() {
		return
	}
	wait := s.info.timeout / lastWords
	if s.lapse.slow { // as all sessions may be at a change of leader
		wait += spread(s.info.session, s.info.timeout/lapseSpread)
	}
	s.replaceSoon(wait)
}

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
		s.lapse.timer = s.after(wait, func() {
			if s.lapse.timer = nil; !s.ending && s.decides.Wanted() { // else no request wants another session any more
				s.replaceSoon(0)
			}
		})
	}
}

// endPauseIfQuick replaces a session that waits for its turn once its servers have recovered. The
// next pause is longer even so.
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

func (s *session) replace() {
	if s.phase.connected() {
		s.lapse.replaced(time.Now(), s.info.timeout, s.info.session)
	}
	s.interrupted(metering.CauseExpired)
	s.log.Warn("session replaced", s.logged()...)
	s.apply(coordinator.Expired{}, 0)
}
