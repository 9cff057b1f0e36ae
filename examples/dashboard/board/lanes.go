package board

import (
	"cmp"
	"slices"
	"time"
)

const (
	// mostLanes bounds the locks on the time line of all locks; lanesBack is the time that it goes
	// back.
	mostLanes = 8
	lanesBack = time.Minute
)

// Lane is the lane of one lock in a time line.
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
	type busy struct {
		*track
		holds []*Hold
	}
	var most []busy
	for _, t := range b.tracks {
		if holds := t.recent(now.Add(-lanesBack)); len(holds) > 0 {
			most = append(most, busy{t, holds})
		}
	}
	slices.SortFunc(most, func(a, b busy) int {
		return cmp.Or(len(b.holds)-len(a.holds), comparePaths(a.path, b.path))
	})
	most = most[:min(len(most), mostLanes)]
	slices.SortFunc(most, func(a, b busy) int { return comparePaths(a.path, b.path) })
	for _, t := range most {
		lanes = append(lanes, Lane{ID: t.path, Path: t.path, Holds: laneHolds(t.holds, mostBars)})
	}
	return lanes
}

// mostBars bounds what a time line shows of one lock.
const mostBars = 120

// recent gives the times of holding that were not over before a moment.
func (t *track) recent(from time.Time) (some []*Hold) {
	for _, h := range t.holds {
		if h.To.IsZero() || h.To.After(from) {
			some = append(some, h)
		}
	}
	return some
}

// mostTelling picks at most so many holds, and keeps their order. It takes holds that still last
// first, the longest of them before others, because people look for the one that holds for ever.
// Then it takes the holds that ended last.
func mostTelling(holds []*Hold, most int) []*Hold {
	if len(holds) <= most {
		return holds
	}
	ranked := slices.Clone(holds)
	slices.SortStableFunc(ranked, func(a, b *Hold) int {
		switch {
		case a.To.IsZero() && b.To.IsZero():
			return a.From.Compare(b.From)
		case a.To.IsZero():
			return -1
		case b.To.IsZero():
			return 1
		}
		return cmp.Or(b.To.Compare(a.To), b.From.Compare(a.From))
	})
	kept := make(map[*Hold]bool, most)
	for _, h := range ranked[:most] {
		kept[h] = true
	}
	some := make([]*Hold, 0, most)
	for _, h := range holds {
		if kept[h] {
			some = append(some, h)
		}
	}
	return some
}

func laneHolds(holds []*Hold, most int) []LaneHold {
	all := make([]LaneHold, 0, min(len(holds), most))
	for _, h := range mostTelling(holds, most) {
		l := LaneHold{ID: h.ID, From: h.From.UnixMilli(), Least: h.Least, Asked: h.Asked, Who: h.Who, Token: tokenText(h.Token)}
		if !h.To.IsZero() {
			l.To = h.To.UnixMilli()
		}
		all = append(all, l)
	}
	return all
}
