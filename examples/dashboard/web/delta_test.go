package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// shown is a list as a page keeps it: see rows.js.
type shown struct {
	rows      map[string]string
	order     []string
	positions []int
}

func (s *shown) apply(t *rapid.T, c *change) {
	if c == nil {
		return
	}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var sent change
	require.NoError(t, json.Unmarshal(text, &sent), "it is sent whole")
	for _, set := range sent.Set {
		var row struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal(set, &row))
		s.rows[row.ID] = string(set)
	}
	for _, id := range sent.Gone {
		require.Contains(t, s.rows, id, "only what is there can go")
		delete(s.rows, id)
	}
	if sent.Order != nil {
		s.order = sent.Order
	}
	if sent.Positions != nil {
		s.positions = sent.Positions
	}
}

// TestDeltas: after any changes of a list, a page that applies each change shows the list, and is
// sent nothing twice.
func TestDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, page := &list{}, &shown{rows: map[string]string{}}
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			ids := rapid.Permutation([]int{1, 2, 3, 4, 5, 6}).Draw(t, "ids")[:rapid.IntRange(0, 6).Draw(t, "length")]
			var rows []row
			want := map[string]string{}
			var order []string
			var positions []int
			for i, id := range ids {
				value := map[string]any{"id": fmt.Sprint(id), "is": rapid.IntRange(0, 2).Draw(t, "value")}
				rows = append(rows, row{id: fmt.Sprint(id), position: 10 + i, value: value})
				text, _ := json.Marshal(value)
				want[fmt.Sprint(id)], order, positions = string(text), append(order, fmt.Sprint(id)), append(positions, 10+i)
			}
			before := len(page.rows)
			c, err := l.update(rows)
			require.NoError(t, err)
			page.apply(t, c)
			require.Equal(t, want, page.rows)
			if len(order) > 0 { // an empty list has no order to send: all that was in it has gone
				require.Equal(t, order, page.order)
				require.Equal(t, positions, page.positions)
			} else if before > 0 {
				require.Len(t, c.Gone, before)
			}
			again, err := l.update(slices.Clone(rows))
			require.NoError(t, err)
			require.Nil(t, again)
		}
	})
}
