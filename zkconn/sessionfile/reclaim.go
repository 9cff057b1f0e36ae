package sessionfile

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Reclaimable gives the sessions of predecessors that still exist and are kept, so that our process can take back what
// they hold: for their session timeout after the first Start that found them in the file. It is called before our
// process holds anything that its own successor may take back, and writes into the file that there may be such a thing.
// It waits for a server to say whether they exist, and for no other session: no call for longer than until 5 s after
// the first.
func (s *Successor) Reclaimable() []int64 {
	if s == nil {
		return nil
	}
	s.asked.Do(func() { s.waited = time.Now().Add(patience) })
	timer := time.NewTimer(time.Until(s.waited)) // one wait for all locks
	defer timer.Stop()
	select {
	case <-s.known:
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reclaims {
		s.reclaims = true
		if len(s.own) > 0 {
			s.own[0].Reclaim = true
			s.write()
		}
	}
	return slices.Clone(s.kept)
}

// keep refreshes a session, and closes it when its timeout is over once more; false where it could not be refreshed, or
// that time is over since another process has kept it. It asks the servers for no longer than that either: then a
// process that dies, and has no successor, prolongs nothing.
func (s *Successor) keep(r Record) bool {
	log := s.log.With(logkeys.Session, logkeys.SessionID(r.Session))
	left := r.keptFor(time.Now())
	if left <= 0 {
		return false
	}
	s.keepUntil(r.Session, time.Now().Add(left))
	begun := time.Now()
	existed, err := zkconn.RefreshSession(s.closing, s.cfg, r.Connect, r.Session, r.Password, max(left, time.Millisecond))
	if err != nil || !existed {
		return false
	}
	log.Info("session of the predecessor kept, for what is reclaimed", logkeys.Timeout, left)
	s.mu.Lock()
	s.kept = append(s.kept, r.Session)
	s.mu.Unlock()
	s.keeping.Go(func() {
		over := time.NewTimer(left - time.Since(begun))
		defer over.Stop()
		select {
		case <-over.C:
			s.closePredecessor(s.closing, r)
		case <-s.closing.Done(): // it stays in the file, unless closeKept closes it
		}
	})
	return true
}

// keepUntil notes in the file until when a session is kept, so that the next process does not begin anew.
func (s *Successor) keepUntil(session int64, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.left {
		if s.left[i].Session == session {
			s.left[i].KeptUntil = until
		}
	}
	s.write()
}

// closeKept closes the sessions that were kept: who ends in order takes nothing back any more. Our own session was
// closed just now, so that there are servers.
func (s *Successor) closeKept() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.mu.Lock()
	kept := slices.DeleteFunc(slices.Clone(s.left), func(r Record) bool { return !slices.Contains(s.kept, r.Session) })
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, r := range kept {
		closing.Go(func() { s.closePredecessor(ctx, r) })
	}
	closing.Wait()
}
