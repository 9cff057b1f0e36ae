package board

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// What an overview shows at most, besides the locks that are asked for.
const (
	mostWaits     = 10
	mostDeadlocks = 20
	mostLanes     = 8
	mostNews      = 60
)

// lanesBack is how far back the time line of all locks goes.
const lanesBack = time.Minute

// Figures are the numbers above an overview.
type Figures struct {
	Root      string `json:"root"`
	Locks     int    `json:"locks"` // that have contenders
	Held      int    `json:"held"`
	Holders   int    `json:"holders"`
	Waiting   int    `json:"waiting"`
	Deadlocks int    `json:"deadlocks"`
	Followed  int    `json:"followed"` // of which more than numbers is known
	Unread    int    `json:"unread"`
	UnreadAt  string `json:"unreadAt,omitempty"` // the first of them
	Truncated bool   `json:"truncated,omitempty"`
	Trouble   string `json:"trouble,omitempty"`
	Looked    bool   `json:"looked"`          // the tree has been read
	First     int64  `json:"first,omitempty"` // the first look, in milliseconds
	Matching  int    `json:"matching"`
	Shown     int    `json:"shown"`
}

// Overview is the bounded view of all locks.
type Overview struct {
	Figures   Figures
	Rate      Rate
	Locks     []LockRow
	Waits     []WaitRow
	Deadlocks []DeadlockRow
	Events    []Event
	Lanes     []Lane
}

// Rate is how fast locks change hands: each second of the last minute, and the mean of the newest ones.
type Rate struct {
	Mean    float64 `json:"mean"`
	Seconds []int   `json:"seconds"`
}

// LockRow is one lock of the tree, or a folder of locks.
type LockRow struct {
	ID       string  `json:"id"`
	Path     string  `json:"path"`
	Name     string  `json:"name"` // what the path adds to that of the folder
	Depth    int     `json:"depth"`
	Folder   bool    `json:"folder,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	State    string  `json:"state,omitempty"`
	Why      string  `json:"why,omitempty"` // it cannot be read
	Holders  int     `json:"holders,omitempty"`
	Waiters  int     `json:"waiters,omitempty"`
	Who      string  `json:"who,omitempty"` // the first holder
	Token    string  `json:"token,omitempty"`
	Since    int64   `json:"since,omitempty"`
	Least    bool    `json:"least,omitempty"`
	Rate     float64 `json:"rate,omitempty"`
	Deadlock bool    `json:"deadlock,omitempty"`
}

// What state a lock is in.
const (
	Free     = "free"
	Held     = "held"
	AskedFor = "asked back"
	Unread   = "unreadable"
	Counted  = "counted" // only its numbers are known
)

// WaitRow is one that waits.
type WaitRow struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Who      string `json:"who"`
	Position int    `json:"position"`
	Since    int64  `json:"since"`
}

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

// Overview gives the first locks of those whose path, or first holder, has a word in it; "" is in all.
func (b *Board) Overview(now time.Time, word string, most int) Overview {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := Overview{Figures: b.figures(), Events: newestFirst(b.log.events, mostNews), Deadlocks: deadlockRows(b.deadlocks)}
	stuck := stuckPaths(b.deadlocks)
	word = strings.ToLower(word)
	var rows []LockRow
	seconds := make([]int, rateSeconds-1)
	for _, path := range b.paths() {
		row := b.row(now, path, seconds)
		row.Deadlock = stuck[path]
		if strings.Contains(strings.ToLower(row.Path+"\n"+row.Who), word) {
			rows = append(rows, row)
		}
	}
	v.Rate = Rate{mean(seconds), seconds}
	v.Figures.Matching = len(rows)
	rows = rows[:min(len(rows), most)]
	v.Figures.Shown = len(rows)
	v.Locks = grow(rows)
	v.Waits = b.longestWaits()
	v.Lanes = b.lanes(now)
	return v
}

// paths gives all lock paths that there is something to say of, in their order.
func (b *Board) paths() []string {
	if b.sorted == nil {
		all := maps.Clone(b.counts)
		for path := range b.tracks {
			all[path] = count{}
		}
		b.sorted = slices.SortedFunc(maps.Keys(all), comparePaths)
	}
	return b.sorted
}

// comparePaths orders paths as a tree is read: what is below a node comes right after it.
func comparePaths(a, b string) int {
	return cmp.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

func (b *Board) figures() Figures {
	f := Figures{Root: b.root, Deadlocks: len(b.deadlocks), Followed: len(b.tracks), Unread: len(b.unread),
		Truncated: b.truncated, Trouble: b.trouble, Looked: !b.looked.IsZero()}
	if !b.first.IsZero() {
		f.First = b.first.UnixMilli()
	}
	if len(b.unread) > 0 {
		f.UnreadAt = b.unread[0].Path
	}
	for _, path := range b.paths() {
		holders, waiters := b.numbers(path)
		f.Holders += holders
		f.Waiting += waiters
		f.Held += min(holders, 1)
		f.Locks += min(holders+waiters, 1)
	}
	return f
}

// numbers gives the holders and waiters of a lock path: of its queue where that is followed.
func (b *Board) numbers(path string) (holders, waiters int) {
	t := b.tracks[path]
	if t == nil || t.refusal.Reason != messages.ReasonNone {
		return b.counts[path].holders, b.counts[path].waiters
	}
	return t.numbers()
}

func (t *track) numbers() (holders, waiters int) { return len(t.order) - t.waiters, t.waiters }

// row is what an overview shows of a lock; its seconds are added to the others'.
func (b *Board) row(now time.Time, path string, seconds []int) LockRow {
	row := LockRow{ID: path, Path: path, State: Counted}
	row.Holders, row.Waiters = b.numbers(path)
	t := b.tracks[path]
	if t == nil {
		if b.counts[path].contest {
			row.Kind = messages.Contest.String()
		}
		return row
	}
	t.describe(&row)
	mine := t.rate.seconds(now)
	row.Rate = mean(mine)
	for i, n := range mine {
		seconds[i] += n
	}
	return row
}

// describe says who holds, and what kind of lock it is.
func (t *track) describe(row *LockRow) {
	row.State, row.Kind = Free, t.kind()
	if t.refusal.Reason != messages.ReasonNone {
		row.State, row.Why = Unread, string(t.refusal.Reason)
		return
	}
	for _, c := range t.order {
		if !c.Holds {
			continue
		}
		if row.State == Free {
			row.State, row.Who, row.Token = Held, Name(c.Contender), tokenText(c.Token)
			row.Since, row.Least = c.hold.From.UnixMilli(), c.hold.Least
		}
		if c.Asked {
			row.State = AskedFor
		}
	}
}

// kind is what the nodes tell of what kind of lock it is; "" where there are none.
func (t *track) kind() string {
	kind := ""
	for _, c := range t.order {
		switch is := kindOf(c.Mode); {
		case kind == "" || kind == is:
			kind = is
		default:
			return "mixed"
		}
	}
	return kind
}

func kindOf(m messages.Mode) string {
	if m == messages.Read || m == messages.Write {
		return "read-write"
	}
	return m.String()
}

// longestWaits gives those of all locks that have waited longest.
func (b *Board) longestWaits() []WaitRow {
	var all []WaitRow
	for _, t := range b.tracks {
		for _, c := range t.longest {
			all = append(all, WaitRow{ID: t.path + "/" + c.Node, Path: t.path, Who: Name(c.Contender),
				Position: c.position, Since: c.Since.UnixMilli()})
		}
	}
	slices.SortFunc(all, func(a, b WaitRow) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
	})
	return all[:min(len(all), mostWaits)]
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
