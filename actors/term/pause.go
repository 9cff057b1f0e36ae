package term

import (
	"cmp"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Clocked is a [Machine] with a clock, and with the lengths of its pauses, jittered by half.
type Clocked struct {
	Machine
	// Timeout gives the session timeout. Nil, or zero, says that it is not known.
	Timeout func() time.Duration
	// Out is the length of LongPause.
	Out time.Duration

	since time.Time // that Event.At counts from
}

// Step is Machine.Step, now.
func (c *Clocked) Step(ev Event) []Effect {
	if !c.One {
		if c.since.IsZero() {
			c.since = time.Now()
		}
		ev.At, ev.Longest = time.Since(c.since), c.longest()
	}
	return c.Machine.Step(ev)
}

// Length gives the length of a pause that a step asks for.
func (c *Clocked) Length(pause Effect) time.Duration {
	switch pause {
	case NoPause:
		return 0
	case LongPause:
		return c.Out
	}
	return min(retry.Campaign.Pause(c.Pauses), c.longest())
}

// longest bounds the pauses: a session timeout, after which an abandoned lock is free, or ten
// seconds, where that is less or the timeout unknown.
func (c *Clocked) longest() time.Duration {
	longest := retry.Campaign.Longest
	if c.Timeout != nil {
		longest = min(cmp.Or(c.Timeout(), longest), longest)
	}
	return longest
}
