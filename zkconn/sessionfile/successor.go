package sessionfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

const (
	// predecessorsKept bounds the sessions that are remembered when none could be closed, after
	// several restarts. The oldest is forgotten: it expires first.
	predecessorsKept = 4
	// patience bounds how long Record waits for the predecessors' sessions where servers do not
	// answer.
	patience = 5 * time.Second
)

// Successor is a process that uses a session file. Its methods may block on the disk; those of nil
// do nothing. Safe for concurrent use.
type Successor struct {
	file *File
	cfg  zkconn.Config
	log  *slog.Logger

	closing context.Context
	stop    context.CancelFunc
	settled chan struct{} // closed when no session is left to close or to refresh, or that was given up
	known   chan struct{} // closed when it is known which sessions are kept to be reclaimed, or that was given up
	keeping sync.WaitGroup

	mu       sync.Mutex
	left     []Record // predecessors' sessions that may still exist
	kept     []int64  // those of left that are kept to be reclaimed
	own      []Record // our own, once there is one
	reclaims bool     // the next process may reclaim what our session holds
	epoch    uint64
	limit    *time.Timer // on closing, once we have a session

	asked  sync.Once // Reclaimable, which sets waited: until when its calls wait
	waited time.Time
}

// Start opens a session file and begins to close its predecessors' sessions, at the servers that
// the file names, reached as cfg says. The error wraps ErrInUse, or zkconn.ErrBadConfig.
func Start(path string, cfg zkconn.Config) (*Successor, error) {
	if len(cfg.Servers()) == 0 {
		return nil, fmt.Errorf("turnstile: the zero Config: must be made by NewConfig: %w", zkconn.ErrBadConfig)
	}
	file, err := Open(path)
	if errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("turnstile: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("turnstile: %w: %w", zkconn.ErrBadConfig, err)
	}
	left := file.Left()
	s := &Successor{
		file: file, cfg: cfg, log: cfg.Logger(), settled: make(chan struct{}), known: make(chan struct{}),
		left: left[max(0, len(left)-predecessorsKept):],
	}
	if cause := file.Unusable(); cause != nil {
		s.log.Warn("session file passed over: a session that it names expires by itself", logkeys.Error, cause)
	}
	s.closing, s.stop = context.WithCancel(context.Background())
	go s.closePredecessors(slices.Clone(s.left))
	return s, nil
}

func (s *Successor) closePredecessors(left []Record) {
	defer close(s.settled)
	var closing, refreshing sync.WaitGroup
	for _, r := range left {
		if r.Reclaim {
			refreshing.Add(1)
		}
		closing.Go(func() {
			kept := false
			if r.Reclaim {
				kept = s.keep(r)
				refreshing.Done()
			}
			if !kept {
				s.closePredecessor(s.closing, r)
			}
		})
	}
	refreshing.Wait()
	close(s.known)
	closing.Wait()
}

func (s *Successor) closePredecessor(ctx context.Context, r Record) {
	begin := time.Now()
	log := s.log.With(logkeys.Session, logkeys.SessionID(r.Session))
	existed, err := zkconn.CloseSession(ctx, s.cfg, r.Connect, r.Session, r.Password)
	if err != nil {
		log.Warn("session of the predecessor not closed: it expires by itself", logkeys.Error, err)
		if !errors.Is(err, zkconn.ErrBadConfig) {
			return // it stays in the file, for a successor that comes soon
		}
	} else {
		log.Info("session of the predecessor closed", logkeys.Existed, existed, logkeys.Took, time.Since(begin))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = slices.DeleteFunc(s.left, func(other Record) bool { return other.Session == r.Session })
	s.kept = slices.DeleteFunc(s.kept, func(kept int64) bool { return kept == r.Session })
	if len(s.own) > 0 { // otherwise our own session is written next
		s.write()
	}
}

// Record puts our own session into the file, unless one of a later epoch is there, and waits until
// the predecessors' sessions are closed: 5 s at most. Closing then goes on for the longest of their
// session timeouts.
func (s *Successor) Record(epoch uint64, session int64, password []byte, timeout time.Duration) {
	if s == nil {
		return
	}
	s.record(epoch, Record{
		Session: session, Password: password, Timeout: timeout,
		Connect: strings.Join(s.cfg.Servers(), ",") + s.cfg.Chroot(),
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.settled:
	case <-timer.C:
	}
}

func (s *Successor) record(epoch uint64, own Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch < s.epoch {
		return
	}
	own.Reclaim = s.reclaims
	s.epoch, s.own = epoch, []Record{own}
	s.write()
	if s.limit == nil && len(s.left) > 0 {
		longest := slices.MaxFunc(s.left, func(a, b Record) int { return cmp.Compare(a.Timeout, b.Timeout) })
		within := longest.Timeout
		if slices.ContainsFunc(s.left, func(r Record) bool { return r.Reclaim }) {
			within *= 2 // one that is kept is closed when its timeout is over
		}
		s.limit = time.AfterFunc(within, s.stop)
	}
}

func (s *Successor) write() {
	if err := s.file.Write(slices.Concat(s.left, s.own)); err != nil {
		s.log.Warn("session file not written: a successor will have to wait for the session timeout", logkeys.Error, err)
	}
}

// Stop gives up closing predecessors' sessions. It does not block.
func (s *Successor) Stop() {
	if s != nil {
		s.stop()
	}
}

// Close takes our own session out of the file, if it has ended, closes the sessions that were kept
// to be reclaimed, and closes the file, in a second at most. No Record may be under way, or follow.
func (s *Successor) Close(ended bool) {
	if s == nil {
		return
	}
	s.stop()
	<-s.settled
	s.keeping.Wait()
	if ended {
		s.closeKept()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit != nil {
		s.limit.Stop()
	}
	if ended {
		s.own = nil
	}
	s.write()
	if err := s.file.Close(); err != nil {
		s.log.Warn("session file not closed", logkeys.Error, err)
	}
}

// Reclaimable gives the predecessors' sessions that still exist and are kept for us to take back
// what they hold, for their session timeout after the first Start that found them. Call it before
// our process holds anything that its own successor may take back: it writes that into the file. It
// waits for a server to say whether they exist, all calls until 5 s after the first at most.
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

// keep refreshes a session, and closes it when its timeout is over once more; false where it could
// not be refreshed, or another process has kept it for that long. It asks the servers for no longer
// than that.
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

// keepUntil notes in the file until when a session is kept, so that the next process does not begin
// anew.
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

// closeKept closes the sessions that were kept: nothing is taken back after an orderly end.
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
