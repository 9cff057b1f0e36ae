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
// they hold: for as long as their session timeout after Start. It is called before our process holds anything that its
// own successor may take back, and writes into the file that there may be such a thing. It waits for a server to say
// whether they exist, 5 s at most, and for no other session.
func (s *Successor) Reclaimable() []int64 {
	if s == nil {
		return nil
	}
	timer := time.NewTimer(patience)
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

// keep refreshes a session, and closes it when its timeout is over once more; false where it could not be refreshed.
func (s *Successor) keep(r Record) bool {
	log := s.log.With(logkeys.Session, logkeys.SessionID(r.Session))
	existed, err := zkconn.RefreshSession(s.closing, s.cfg, r.Connect, r.Session, r.Password, r.Timeout)
	if err != nil || !existed {
		return false
	}
	log.Info("session of the predecessor kept, for what is reclaimed", logkeys.Timeout, r.Timeout)
	s.mu.Lock()
	s.kept = append(s.kept, r.Session)
	s.mu.Unlock()
	s.keeping.Go(func() {
		over := time.NewTimer(r.Timeout)
		defer over.Stop()
		select {
		case <-over.C:
			s.closePredecessor(s.closing, r)
		case <-s.closing.Done(): // it stays in the file, unless closeKept closes it
		}
	})
	return true
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
