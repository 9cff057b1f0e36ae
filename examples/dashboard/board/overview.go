package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// The bounds of an overview, besides the locks that are asked for.
const (
	mostWaits     = 10
	mostDeadlocks = 20
	mostNews      = 60
)

// Figures are the numbers above an overview.
type Figures struct {
	Root      string `json:"root"`
	Locks     int    `json:"locks"` // that have contenders
	Held      int    `json:"held"`
	Holders   int    `json:"holders"`
	Waiting   int    `json:"waiting"`
	Sessions  int    `json:"sessions"`
	Deadlocks int    `json:"deadlocks"`
	Possible  int    `json:"possible"` // deadlocks
	Followed  int    `json:"followed"` // of which more than numbers is known
	Unread    int    `json:"unread"`
	UnreadAt  string `json:"unreadAt,omitempty"` // the first of them
	Truncated bool   `json:"truncated,omitempty"`
	Trouble   string `json:"trouble,omitempty"`
	Silent    int64  `json:"silent,omitempty"` // no server has answered since; 0 while one does
	Looked    bool   `json:"looked"`           // the tree has been read
	First     int64  `json:"first,omitempty"`  // the first look, in milliseconds
	Matching  int    `json:"matching"`
	Shown     int    `json:"shown"`

	Own OwnSession `json:"own"`
}

// Overview is the bounded view of all locks.
type Overview struct {
	Figures   Figures
	Rate      Rate
	Locks     []LockRow
	Waits     []WaitRow
	Deadlocks []DeadlockRow
	Possible  []DeadlockRow
	Events    []Event
	Lanes     []Lane
	Gaps      []GapRow
	Sessions  []SessionRow
	Phases    []PhaseRow
	Proofs    []ProofRow
}

// Overview gives the first locks of those whose path, or first holder, has a word in it; "" is in all.
func (b *Board) Overview(now time.Time, word string, most int) Overview {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := Overview{Figures: b.figures(), Events: newestFirst(b.log.events, mostNews), Deadlocks: deadlockRows(b.deadlocks),
		Possible: possibleRows(b.possible)}
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
	v.Lanes, v.Gaps = b.lanes(now), b.silences.after(now.Add(-lanesBack))
	v.Sessions, v.Figures.Sessions = b.sessions()
	v.Figures.Own, v.Phases, v.Proofs = b.chain.view(now)
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
	f := Figures{Root: b.root, Deadlocks: len(b.deadlocks), Possible: len(b.possible),
		Followed: len(b.tracks), Unread: len(b.unread),
		Truncated: b.truncated, Trouble: b.trouble, Silent: b.silences.since(), Looked: !b.looked.IsZero()}
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

// row makes the row of a lock in an overview; its seconds are added to the others'.
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
			row.State = Revoking
		}
	}
}

// kind gives the kind of the lock, as its nodes tell it, and how many permits are taken; "" where it has no nodes.
func (t *track) kind() string {
	kind, taken := "", 0
	for _, c := range t.order {
		if c.Holds {
			taken += c.Weight
		}
		switch is := kindOf(c.Mode); {
		case kind == "" || kind == is:
			kind = is
		default:
			return "mixed"
		}
	}
	if t.permits > 0 && kind == messages.Semaphore.String() {
		return fmt.Sprintf("%s, %d of %d", kind, taken, t.permits)
	}
	return kind
}

func kindOf(m messages.Mode) string {
	if m == messages.Read || m == messages.Write {
		return "read-write"
	}
	return m.String()
}

// longestWaits gives the waiters of all locks that have waited longest.
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
