package board

import (
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// lockBack is the time that the time line of one lock goes back.
const lockBack = 5 * time.Minute

// mostLockBars bounds the time line of one lock.
const mostLockBars = 300

// LockFigures are the numbers above the page of a lock.
type LockFigures struct {
	Path     string `json:"path"`
	Known    bool   `json:"known"` // it has been read
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Why      string `json:"why,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Holders  int    `json:"holders"`
	Waiters  int    `json:"waiters"`
	Matching int    `json:"matching"` // waiters whose row has the word
	Longest  int64  `json:"longest,omitempty"`
	Events   int    `json:"events"`
	First    int64  `json:"first,omitempty"` // the first look
	Deadlock bool   `json:"deadlock,omitempty"`
	Possible bool   `json:"possible,omitempty"` // it may be part of one
	Trouble  string `json:"trouble,omitempty"`
	Silent   int64  `json:"silent,omitempty"` // no server has answered since; 0 while one does
}

// ContenderRow is one contender.
type ContenderRow struct {
	ID       string `json:"id"` // its node
	Position int    `json:"-"`
	Who      string `json:"who"`
	Process  string `json:"process,omitempty"`
	Session  string `json:"session"`
	Library  string `json:"library,omitempty"`
	Mode     string `json:"mode"`
	Queue    string `json:"queue,omitempty"` // the queue's name
	Weight   int    `json:"weight,omitempty"`
	Token    string `json:"token,omitempty"`
	Since    int64  `json:"since,omitempty"` // asked for it
	From     int64  `json:"from,omitempty"`  // holds
	Least    bool   `json:"least,omitempty"`
	Asked    bool   `json:"asked,omitempty"`
	Stuck    bool   `json:"stuck,omitempty"` // part of a deadlock
	Unread   bool   `json:"unread,omitempty"`
	MayHold  bool   `json:"mayHold,omitempty"` // it waits here, and may hold by the rule of its own library
}

// LockView is the bounded view of one lock.
type LockView struct {
	Figures   LockFigures
	Rate      Rate
	Holders   []ContenderRow
	Waiters   []ContenderRow
	Events    []Event
	Deadlocks []DeadlockRow
	Possible  []DeadlockRow
	Holds     []LaneHold
	Gaps      []GapRow
}

// Shown selects the part of a lock that a view shows.
type Shown struct {
	Word                     string // that rows of waiters must have
	Holders, Waiters, Events int
}

// Lock gives the view of one lock.
func (b *Board) Lock(now time.Time, path string, shown Shown) LockView {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := LockView{Figures: LockFigures{Path: path, State: Counted, Trouble: b.trouble, Silent: b.silences.since()},
		Rate: Rate{Seconds: make([]int, rateSeconds-1)}, Gaps: b.silences.after(now.Add(-lockBack))}
	t := b.tracks[path]
	if t == nil {
		return v
	}
	f := &v.Figures
	var row LockRow
	t.describe(&row)
	f.Known, f.Kind, f.State, f.Why, f.Detail = !t.first.IsZero(), row.Kind, row.State, row.Why, t.refusal.Detail
	f.Holders, f.Waiters = t.numbers()
	f.Events = min(len(t.events), mostEvents)
	if f.Known {
		f.First = t.first.UnixMilli()
	}
	if len(t.longest) > 0 {
		f.Longest = t.longest[0].Since.UnixMilli()
	}
	v.Holders, v.Waiters, f.Matching = t.rows(shown, stuckNodes(b.deadlocks))
	v.Events = newestFirst(t.events, min(shown.Events, mostEvents))
	v.Holds = laneHolds(t.recent(now.Add(-lockBack)), mostLockBars)
	v.Rate.Seconds = t.rate.seconds(now)
	v.Rate.Mean = mean(v.Rate.Seconds)
	v.Deadlocks, v.Possible = deadlockRows(through(b.deadlocks, path)), possibleRows(through(b.possible, path))
	f.Deadlock, f.Possible = len(v.Deadlocks) > 0, len(v.Possible) > 0
	return v
}

// through gives the deadlocks that a lock is part of.
func through(all []messages.Deadlock, path string) (here []messages.Deadlock) {
	for _, d := range all {
		if stuckPaths([]messages.Deadlock{d})[path] {
			here = append(here, d)
		}
	}
	return here
}

// rows gives the first holders and waiters, and how many waiters there are with the word that is looked for.
func (t *track) rows(shown Shown, stuck map[string]bool) (holders, waiters []ContenderRow, matching int) {
	word := strings.ToLower(shown.Word)
	for _, c := range t.order {
		if c.Holds {
			if len(holders) < shown.Holders {
				holders = append(holders, c.row(stuck))
			}
			continue
		}
		if word == "" {
			if matching++; len(waiters) < shown.Waiters {
				waiters = append(waiters, c.row(stuck))
			}
			continue
		}
		if row := c.row(stuck); row.has(word) {
			if matching++; len(waiters) < shown.Waiters {
				waiters = append(waiters, row)
			}
		}
	}
	return holders, waiters, matching
}

// has reports whether the row of a contender has a word, which is in small letters.
func (r ContenderRow) has(word string) bool {
	text := strings.Join([]string{r.Who, r.Process, r.Session, r.Library, r.Mode, r.Queue, r.ID, r.Token}, "\n")
	return strings.Contains(strings.ToLower(text), word)
}
