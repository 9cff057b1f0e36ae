package actors

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
)

// handed is when the one before a contender gave the lock back, or was heard to be gone: the beginning of a hand-off, for
// the figures. There is none where nothing is counted.
type handed struct {
	at    metering.Moment
	local bool // the one before was of this session
}

// tellGone tells a contender what its vigil has come to: that the one before it is gone, with the time from which the
// hand-off counts, or what else.
func (s *session) tellGone(c *contender, ev machine.Event, at metering.Moment, local bool) {
	n := &news{event: ev, lease: s.lease}
	if at != 0 && ev.Kind == machine.PredecessorGone {
		n.handed = &handed{at, local}
	}
	s.system.Root.Send(c.lock, n)
}
