package zkconn

import (
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// urgency says until when reconnecting is urgent, and how fast attempts follow each other
// meanwhile.
type urgency struct {
	on      atomic.Bool
	changed chan struct{}    // has room for one
	until   func() time.Time // the end of the lease, and so of the urgency
	timeout func() time.Duration
	refused bool          // a credential was, on the newest connection of use; the connecting goroutine's
	pauses  *retry.Pauses // since the newest loss; nil before the first pause
}

// An attempt to dial has a twentieth of the session timeout to itself while reconnecting is urgent,
// within these bounds; the upper one is from RFC 8305.
const (
	overlapsPerTimeout = 20
	shortestOverlap    = 10 * time.Millisecond
	longestOverlap     = 250 * time.Millisecond
)

func newUrgency(timeout func() time.Duration) *urgency {
	return &urgency{changed: make(chan struct{}, 1), timeout: timeout}
}

func (h *urgency) set(urgent bool) {
	if h.on.Store(urgent); !urgent {
		return
	}
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// left gives how much longer reconnecting is urgent; zero or less where it is not.
func (h *urgency) left() time.Duration {
	if !h.on.Load() || h.refused {
		return 0
	}
	return time.Until(h.until())
}

func (h *urgency) urgent() bool { return h.left() > 0 }

func (h *urgency) pause() time.Duration {
	if h.pauses == nil {
		h.pauses = retry.Urgent(h.timeout()).Begin()
	}
	return h.pauses.Next()
}

func (h *urgency) overlap() time.Duration {
	return min(max(h.timeout()/overlapsPerTimeout, shortestOverlap), longestOverlap)
}

// handshake bounds the wait for the answer to a connect request, ordinarily bounded by usual.
func (h *urgency) handshake(usual time.Duration, servers int) time.Duration {
	left := h.left()
	if left <= 0 || servers < 2 {
		return usual
	}
	return min(usual, max(left/2, shortestHandshake))
}
