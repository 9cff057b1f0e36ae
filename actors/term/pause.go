package term

import (
	"cmp"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Pauses has the lengths of the pauses of one machine, jittered by half.
type Pauses struct {
	series *retry.Pauses
	long   time.Duration
}

// NewPauses begins the pauses of a machine. long is the length of LongPause.
func NewPauses(long time.Duration) *Pauses { return &Pauses{retry.Campaign.Begin(), long} }

// Next gives the length of a pause that the machine asks for. longest is that of the event.
func (p *Pauses) Next(pause Effect, longest time.Duration) time.Duration {
	switch pause {
	case NoPause:
		return 0
	case LongPause:
		return p.long
	case ShortestPause:
		p.series.Reset()
	}
	return min(p.series.Next(), longest)
}

// LongestPause bounds the pauses: a session timeout, after which a lock that somebody has left is
// free again, or ten seconds, if that is less or the timeout is not known (zero).
func LongestPause(timeout time.Duration) time.Duration {
	return min(cmp.Or(timeout, retry.Campaign.Longest), retry.Campaign.Longest)
}
