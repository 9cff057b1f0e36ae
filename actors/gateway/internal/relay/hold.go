package relay

import (
	"time"
)

// hold is what the requester may rely on while it holds.
type hold struct {
	deadline Instant       // of the lease
	grace    Instant       // when the lock will be taken; zero for never
	lasts    time.Duration // as last told
	fresh    Instant       // sending time of the newest reply with a promise
}

// due is when something happens to it by itself.
func (h *hold) due() Instant {
	if h.grace != 0 {
		return min(h.deadline, h.grace)
	}
	return h.deadline
}

// renew takes a promise, and tells whether it is the longest one.
func (h *hold) renew(now, until, sent Instant, lasts time.Duration) (longer bool) {
	if until > now && sent >= h.fresh {
		h.fresh, h.lasts = sent, lasts
	}
	longer = until > h.deadline
	h.deadline = max(h.deadline, until)
	return longer
}
