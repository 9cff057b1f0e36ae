package web

import (
	"encoding/json"
	"slices"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
)

// row is one row of a list, with its id.
type row struct {
	id       string
	position int // among all that could be shown; 0 where it is not shown
	value    any
}

// list remembers the rows that a page has been sent, so that it is sent the changes and nothing
// else.
type list struct {
	unordered bool // the order says nothing, and is not sent
	sent      map[string]string
	order     []string
	positions []int
}

// change is a change of a list. Set has the rows that are new or have changed. The order is that of
// all rows, and is left out when it is the same.
type change struct {
	Set       []json.RawMessage `json:"set,omitempty"`
	Gone      []string          `json:"gone,omitempty"`
	Order     []string          `json:"order,omitempty"`
	Positions []int             `json:"positions,omitempty"`
}

// update gives what has changed since the last time; nil where nothing has.
func (l *list) update(rows []row) (*change, error) {
	var c change
	now := make(map[string]string, len(rows))
	order, positions := make([]string, len(rows)), make([]int, len(rows))
	for i, r := range rows {
		text, err := json.Marshal(r.value)
		if err != nil {
			return nil, err
		}
		order[i], positions[i], now[r.id] = r.id, r.position, string(text)
		if before, known := l.sent[r.id]; !known || before != string(text) {
			c.Set = append(c.Set, text)
		}
	}
	for id := range l.sent {
		if _, still := now[id]; !still {
			c.Gone = append(c.Gone, id)
		}
	}
	if !l.unordered && !slices.Equal(order, l.order) {
		c.Order = order
	}
	if len(rows) > 0 && rows[0].position > 0 && !slices.Equal(positions, l.positions) {
		c.Positions = positions
	}
	l.sent, l.order, l.positions = now, order, positions
	if c.Set == nil && c.Gone == nil && c.Order == nil && c.Positions == nil {
		return nil, nil
	}
	return &c, nil
}

// rowsOf makes rows of anything.
func rowsOf[T any](all []T, id func(T) string) []row {
	rows := make([]row, len(all))
	for i, one := range all {
		rows[i] = row{id: id(one), value: one}
	}
	return rows
}

// bar is a time of holding with the lane in which it is drawn.
type bar struct {
	Key  string `json:"id"`
	Lane string `json:"lane"`
	board.LaneHold
}

// bars is the list of all bars of a time line, of all lanes.
const bars = "holds"

// proofs is the list of moments at which the own session was proved to live. They stand where they are, too.
const proofs = "proofs"

// barsOf gives the bars of a lane.
func barsOf(lane string, holds []board.LaneHold) (all []row) {
	for _, h := range holds {
		b := bar{Key: lane + " " + h.ID, Lane: lane, LaneHold: h}
		all = append(all, row{id: b.Key, value: b})
	}
	return all
}
