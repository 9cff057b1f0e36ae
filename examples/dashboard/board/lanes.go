package board

import (
	"cmp"
	"slices"
	"time"
)

const (
	// mostLanes bounds the locks on the time line of all locks; lanesBack is how far back it goes.
	mostLanes = 8
	lanesBack = time.Minute
)

// Lane is what a time line shows of one lock.
type Lane struct {
	ID    string     `json:"id"`
	Path  string     `json:"path"`
	Holds []LaneHold `json:"holds"`
}

// LaneHold is one contender's time of holding on a time line.
type LaneHold struct {
	ID    string `json:"id"`
	From  int64  `json:"from"`
	To    int64  `json:"to,omitempty"`
	Least bool   `json:"least,omitempty"`
	Asked bool   `json:"asked,omitempty"`
	Who   string `json:"who"`
	Token string `json:"token"`
}

// lanes gives the locks in which something has changed last, in the order of their paths.
func (b *Board) lanes(now time.Time) (lanes []Lane) {
	var busy []*track
	for _, t := range b.tracks {
		if len(t.recent(now.Add(-lanesBack))) > 0 {
			busy = append(busy, t)
		}
	}
	slices.SortFunc(busy, func(a, b *track) int {
		return cmp.Or(len(b.recent(now.Add(-lanesBack)))-len(a.recent(now.Add(-lanesBack))), comparePaths(a.path, b.path))
	})
	busy = busy[:min(len(busy), mostLanes)]
	slices.SortFunc(busy, func(a, b *track) int { return comparePaths(a.path, b.path) })
	for _, t := range busy {
		lanes = append(lanes, Lane{ID: t.path, Path: t.path, Holds: laneHolds(t.recent(now.Add(-lanesBack)), mostBars)})
	}
	return lanes
}

// mostBars bounds what a time line shows of one lock.
const mostBars = 120

// recent gives the times of holding that were not over before a moment.
func (t *track) recent(from time.Time) []*Hold {
	for i, h := range t.holds {
		if h.To.IsZero() || h.To.After(from) {
			return t.holds[i:]
		}
	}
	return nil
}

func laneHolds(holds []*Hold, most int) []LaneHold {
	all := make([]LaneHold, 0, min(len(holds), most))
	for _, h := range holds[max(0, len(holds)-most):] {
		l := LaneHold{ID: h.ID, From: h.From.UnixMilli(), Least: h.Least, Asked: h.Asked, Who: h.Who, Token: tokenText(h.Token)}
		if !h.To.IsZero() {
			l.To = h.To.UnixMilli()
		}
		all = append(all, l)
	}
	return all
}
