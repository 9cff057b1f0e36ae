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

// session is the session actor: the shell of a coordinator. It tells it what happens, and does what that
// decides. Its fields belong to the actor: only Receive and what it calls touch them. Goroutines get what
// they need as arguments and answer with messages.
type session struct {
	*Session
	self *actor.PID
	log  *slog.Logger

	info     *sessionInfo // of the current epoch
	link     *zkconn.Conn // likewise
	ending   bool
	farewell time.Time // until when the servers may be told that the session ends; zero: at once, or not at all
	lapse    lapse
	keeping  bool      // the connection was told that a lease is to last
	kept     time.Time // since when
	decides  *coordinator.Coordinator
	locks    map[coordinator.RequestID]*actor.PID // lock actors that have not ended
	timers   map[uint64]*time.Timer               // the coordinator's
	pauses   map[*time.Timer]struct{}             // the dispatcher's
	others   map[string]int                       // what ephemeral nodes of transactions weigh, by their paths
	queries  *inspect.Dispatcher
	running  sync.WaitGroup // goroutines of requests
}

// logged is what every record about a session has, and more of it.
func (s *session) logged(more ...any) []any {
	return append([]any{logkeys.Session, logkeys.SessionID(s.info.session), logkeys.Epoch, s.info.epoch}, more...)
}

// of tells whether something belongs to the current epoch: else the session that it belonged to is dead, and
// its nodes with it.
func (s *session) of(epoch uint64) bool {
	if epoch != s.info.epoch {
		s.stale.Add(1)
	}
	return epoch == s.info.epoch
}

func (s *session) setInfo(info *sessionInfo) {
	s.info = info
	s.current.Store(info)
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
