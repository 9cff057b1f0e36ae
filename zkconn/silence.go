package zkconn

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// silence is how long no server has answered. It begins with the first request behind the newest answer, because an idle
// session asks nothing for up to a third of its timeout, or with the loss of the connection. An answer ends it, and a
// connect reply. A loss in the middle of it does not begin it anew: a probe that looks at it would see the servers come
// back.
type silence struct {
	lasts    bool
	since    evidence.Instant // when it began, while it lasts
	redialed bool             // since the newest answer a connection was given up for being mute
}

func (s *silence) begin(now evidence.Instant) {
	if !s.lasts {
		s.lasts, s.since = true, now
	}
}

func (s *silence) end() { s.lasts = false }

// Silence tells for how long no server has answered: since the first request behind the newest answer, the loss of the
// connection, or Dial. It is zero while nothing is waited for. Time for which
// the machine was suspended counts.
func (c *Conn) Silence() time.Duration {
	k := c.lease
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.quiet.lasts {
		return 0
	}
	return time.Duration(k.clock.now() - k.quiet.since)
}
