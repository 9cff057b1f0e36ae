package board

import (
	"strconv"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
)

const (
	// toldSilence is the least time without an answer that is told: a server that restarts is no news.
	toldSilence = time.Second
	// mostGaps bounds the silences that are kept.
	mostGaps = 60
)

// GapRow is a time for which no server answered: who held then is not known.
type GapRow struct {
	ID   string `json:"id"`
	From int64  `json:"from"`
	To   int64  `json:"to,omitempty"` // 0 while it lasts
}

// silences are the times without an answer, the newest last.
type silences []GapRow

// take takes a reading of the own session, and reports whether a silence begins to be told, or is over.
func (s *silences) take(now time.Time, c actors.Connection) bool {
	last := len(*s) - 1
	lasts := last >= 0 && (*s)[last].To == 0
	switch silent := c.Phase != actors.Connected && c.Silence >= toldSilence; {
	case silent == lasts:
		return false
	case silent:
		since := now.Add(-c.Silence).UnixMilli()
		*s = keepNewest(append(*s, GapRow{ID: s.id(since), From: since}), mostGaps)
	default:
		(*s)[last].To = now.UnixMilli()
	}
	return true
}

func (silences) id(since int64) string { return strconv.FormatInt(since, 10) }

// since is when the silence began that lasts, in milliseconds; 0 for none.
func (s silences) since() int64 {
	if len(s) == 0 || s[len(s)-1].To != 0 {
		return 0
	}
	return s[len(s)-1].From
}

// after gives the silences that were not over before a moment.
func (s silences) after(from time.Time) (some []GapRow) {
	for _, gap := range s {
		if gap.To == 0 || gap.To > from.UnixMilli() {
			some = append(some, gap)
		}
	}
	return some
}
