package board

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// InsideRow is a request of the dashboard's own session that waits without a node. Only a program that mounts the
// dashboard has such requests in its session.
type InsideRow struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Who    string `json:"who"`          // its label, or the process
	By     string `json:"by,omitempty"` // who asks: the caller, or else the owner or the actor
	Mode   string `json:"mode"`
	Queue  string `json:"queue,omitempty"`
	Weight int    `json:"weight,omitempty"` // permits
	Cohort int    `json:"cohort,omitempty"` // grants that one node may serve
	Since  int64  `json:"since,omitempty"`  // when it asked, in milliseconds
}

// inside has the first of them, and counts all.
type inside struct {
	rows []InsideRow
	all  int
}

// TakeInside takes which requests of the dashboard's own session wait without a node.
func (b *Board) TakeInside(in *messages.Inside) {
	now := inside{all: in.All}
	for _, c := range in.Waiting {
		now.rows = append(now.rows, insideRow(shortened(c)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inside.all != now.all || !slices.Equal(b.inside.rows, now.rows) {
		b.inside = now
		b.stir()
	}
}

func insideRow(c messages.Contender) InsideRow {
	row := InsideRow{ID: c.ID, Path: c.Path, Who: Name(c), By: cmp.Or(c.Caller, c.Owner, c.Actor), Mode: c.Mode.String(),
		Queue: c.Name, Weight: c.Weight, Cohort: c.Cohort}
	if !c.Since.IsZero() {
		row.Since = c.Since.UnixMilli()
	}
	return row
}
