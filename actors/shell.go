package actors

import (
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// session is the session actor: the shell of a coordinator. Goroutines get its data as arguments
// and answer with messages.
type session struct {
	*Session
	self *actor.PID
	log  *slog.Logger

	info     *sessionInfo
	link     *zkconn.Conn
	ending   bool
	farewell time.Time // until when the servers may be told that the session ends; zero: at once, or not at all
	lapse    lapse
	decides  *coordinator.Coordinator
	counts   coordinator.Counts // passed on last; the connection was told whether it is Busy and Urgent
	kept     time.Time
	timers   map[uint64]*time.Timer
	pauses   map[*time.Timer]struct{}
	others   map[string]int // the weight of the ephemeral nodes of transactions, by path
	queries  *inspect.Dispatcher
	running  sync.WaitGroup

	followers map[string]*actor.PID // who are watched, by key
}

func (s *session) logged(more ...any) []any {
	return append([]any{logkeys.Session, logkeys.SessionID(s.info.session), logkeys.Epoch, s.info.epoch}, more...)
}

func (s *session) setInfo(info *sessionInfo) {
	s.info = info
	s.current.Store(info)
	s.phase.belongsTo(info.epoch, info.session)
}

func (s *session) become(to Phase, server string, silence time.Duration) {
	s.phase.become(to, server, silence)
	s.figures.Became(to.counted())
}

// work runs do on a goroutine and sends the actor the queryDone that do fills in. A panic fails the
// actor, not the program.
func (s *session) work(do func(*zkconn.Conn, *queryDone)) {
	root, self, conn, d := s.system.Root, s.self, s.link, &queryDone{epoch: s.info.epoch}
	s.running.Add(1)
	s.workers.Do(func() {
		begun := time.Now()
		defer s.running.Done()
		defer func() {
			d.panicked = recover()
			d.took = time.Since(begun)
			root.Send(self, d)
		}()
		do(conn, d)
	})
}

func (s *session) after(d time.Duration, do func()) (timer *time.Timer) {
	root, self, epoch := s.system.Root, s.self, s.info.epoch
	fire := func() { delete(s.pauses, timer); do() }
	timer = time.AfterFunc(d, func() { root.Send(self, &queryDone{epoch: epoch, then: fire}) })
	s.pauses[timer] = struct{}{}
	return timer
}

func (s *session) noteCounts(now coordinator.Counts) {
	was := s.counts
	if now == was {
		return
	}
	s.counts = now
	s.stale.Add(now.Stale - was.Stale)
	s.polls.Add(now.Polls - was.Polls)
	s.weight.Store(int64(now.Weight))
	if heavier := now.Weight - was.Weight; heavier != 0 {
		s.figures.Add("turnstile.session.weight", heavier)
	}
	if now.Busy != was.Busy {
		s.kept = time.Now()
		s.link.KeepLease(now.Busy)
	}
	if now.Urgent != was.Urgent {
		s.link.Urgent(now.Urgent)
	}
}

func (s *session) stopTimers() {
	for _, timer := range s.timers {
		timer.Stop()
	}
	for timer := range s.pauses {
		timer.Stop()
	}
	clear(s.timers)
	clear(s.pauses)
}
