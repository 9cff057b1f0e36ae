package zkconn

import (
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// silence measures for how long no server has answered. It begins with the first request after the
// newest answer, because an idle session asks nothing for up to a third of its timeout, or with the
// loss of the connection. An answer ends it, and a connect reply. A loss in the middle does not
// begin it anew: a probe would see the servers come back.
type silence struct {
	lasts    bool
	since    evidence.Instant
	redialed bool // a mute connection was given up, and none that is no longer new has answered since
}

func (s *silence) begin(now evidence.Instant) {
	if !s.lasts {
		s.lasts, s.since = true, now
	}
}

func (s *silence) end() { s.lasts = false }

// A connection that a server has granted, and on which nothing is answered. A session that somebody
// else ends while its client reconnects leaves one behind: the server forgets, at once or after
// some answers, whom it belongs to. Its client would go on with a lease until the library gives the
// connection up, two thirds of the session timeout after the last answer (4.9 s of 10 s were seen
// beside the next holder). So it dials anew sooner, and hears that the session is over.

const (
	// muteFirst is the part of a session timeout after which a new connection is first looked at.
	// It is longer than the round trips with which a session can be kept (a seventh).
	muteFirst = 4
	// mutePatience is the part for which a request must have waited. A holder's goes out after the
	// connect reply.
	mutePatience = 6
	// muteAgain is the part after which it is looked at again, until it is as old as a session
	// timeout.
	muteAgain = 24
)

type muteWatch struct {
	timer atomic.Pointer[time.Timer] // nil once closed
}

// begin has a reconnection looked at while it is younger than a session timeout, where a lease is
// to last. It is given up at most once: slow servers would be dialed over and over. giveUp is
// called where it is mute.
func (m *muteWatch) begin(timeout time.Duration, mute func(patience time.Duration) bool, giveUp func(after time.Duration)) {
	since := time.Now()
	m.timer.Store(time.AfterFunc(timeout/muteFirst, func() {
		timer, age := m.timer.Load(), time.Since(since)
		switch {
		case timer == nil:
		case mute(timeout / mutePatience):
			giveUp(age)
		case age < timeout:
			timer.Reset(timeout / muteAgain)
			if m.timer.Load() == nil {
				timer.Stop()
			}
		}
	}))
}

func (m *muteWatch) end() {
	if timer := m.timer.Swap(nil); timer != nil {
		timer.Stop()
	}
}
