package board

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

const (
	rateSeconds = 60 // how far back the figures go
	rateOver    = 10 // the seconds over which a rate is the mean
)

// rate counts the contenders that have left a queue, second by second. Each that leaves lets the
// next one in, or leaves the lock free: that is a hand-off. Contenders that come and go between two
// looks are counted, too, because the server numbers the nodes of a lock path: as many came as the
// highest number has grown. Waiters that give up count as well.
type rate struct {
	known   bool
	highest int32 // the highest number seen
	length  int
	token   messages.Token // a contest's, which has no numbers
	counts  [rateSeconds]int
	second  int64 // the second that the last count is of
}

func (r *rate) take(now time.Time, contenders []messages.Contender) {
	r.turn(now)
	highest, token, contest := int32(-1), messages.Token(0), false
	for _, c := range contenders {
		highest = max(highest, c.Sequence)
		if c.Mode == messages.Contest {
			contest, token = true, c.Token
		}
	}
	gone := 0
	switch {
	case contest || r.token != 0:
		if r.token != 0 && token != r.token {
			gone = 1
		}
		r.token = token
	case r.known && highest >= 0 && highest < r.highest && len(contenders) > 0 && !r.overtaken(contenders):
		gone = r.length // the lock path was made again, and counts from zero
		r.highest = highest
	case r.known:
		came := max(0, highest-r.highest)
		gone = max(0, int(came)-(len(contenders)-r.length))
	}
	if highest >= 0 {
		r.highest, r.known = max(r.highest, highest), true
	}
	r.length = len(contenders)
	r.counts[r.second%rateSeconds] += gone
}

// overtaken reports whether the highest numbers have left before lower ones, as waiters do that
// give up.
func (r *rate) overtaken(contenders []messages.Contender) bool { return len(contenders) < r.length }

// turn clears the seconds that have passed since the last count.
func (r *rate) turn(now time.Time) {
	second := now.Unix()
	for s := max(r.second+1, second-rateSeconds+1); s <= second; s++ {
		r.counts[s%rateSeconds] = 0
	}
	r.second = max(r.second, second)
}

// seconds gives the counts of the last minute, the oldest first, without the second that is not over.
func (r *rate) seconds(now time.Time) []int {
	r.turn(now)
	all := make([]int, 0, rateSeconds-1)
	for s := r.second - rateSeconds + 1; s < r.second; s++ {
		all = append(all, r.counts[s%rateSeconds])
	}
	return all
}

// mean gives the hand-offs a second over the last seconds.
func mean(seconds []int) float64 {
	last := seconds[max(0, len(seconds)-rateOver):]
	sum := 0
	for _, n := range last {
		sum += n
	}
	return float64(sum) / float64(max(1, len(last)))
}
