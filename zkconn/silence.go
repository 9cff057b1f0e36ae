package zkconn

import (
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// silence measures for how long no server has answered. It begins with the first request behind the newest answer, because an idle
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

// A connection that a server has granted, and on which nothing is answered. A session that somebody else ends while its
// client reconnects leaves one behind: the server has forgotten whom it belongs to. Its client would go on with a lease
// until the library gives the connection up, after two thirds of the session timeout (4.9 s of 10 s were seen beside the
// next holder). So it dials anew sooner, and hears that the session is over.

const (
	// mutePart is the part of a session timeout after which a new connection is given up that has answered nothing. It is
	// longer than the round trips with which a session can be kept (a seventh).
	mutePart = 4
	// mutePatience is the part for which a request must have waited by then. A holder's goes out behind the connect reply.
	mutePatience = 6
)

// muteWatch looks at one connection, once.
type muteWatch struct {
	timer atomic.Pointer[time.Timer] // nil once something was answered
}

// begin has a reconnection looked at after a while, where a lease is to last. That is done once, until an answer has come:
// servers that are slow, and not mute, would be dialed over and over. giveUp is called where the connection is mute.
func (m *muteWatch) begin(timeout time.Duration, mute func(patience time.Duration) bool, giveUp func(after time.Duration)) {
	m.timer.Store(time.AfterFunc(timeout/mutePart, func() {
		if mute(timeout / mutePatience) {
			giveUp(timeout / mutePart)
		}
	}))
}

// heard ends the watch: the server answers.
func (m *muteWatch) heard() {
	if timer := m.timer.Swap(nil); timer != nil {
		timer.Stop()
	}
}
