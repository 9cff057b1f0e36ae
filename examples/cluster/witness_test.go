package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWitness: what the witness objects to, and what not.
func TestWitness(t *testing.T) {
	for name, c := range map[string]struct {
		looks string // who looks, in order; a capital letter is a look that is not confirmed
		token map[rune]int64
		wrong string
	}{
		"one after the other":            {"aabb", map[rune]int64{'a': 1, 'b': 2}, ""},
		"one within the other":           {"aba", map[rune]int64{'a': 1, 'b': 2}, "held at a time"},
		"they overlap":                   {"abab", map[rune]int64{'a': 1, 'b': 2}, "held at a time"},
		"the first is not valid by then": {"abbA", map[rune]int64{'a': 1, 'b': 2}, ""},
		"tokens go back":                 {"aabb", map[rune]int64{'a': 2, 'b': 1}, "wrong order"},
		"the same token":                 {"aabb", map[rune]int64{'a': 1, 'b': 1}, "wrong order"},
		"never valid":                    {"aBa", map[rune]int64{'a': 1, 'b': 2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := newWitness()
			require.NoError(t, err)
			defer w.close()
			calls, ids := &Calls{w}, map[rune]int64{}
			for _, r := range c.looks {
				who := []rune(strings.ToLower(string(r)))[0]
				look := Look{ID: ids[who], Node: string(who), Path: lockPath, Token: c.token[who]}
				var seen Seen
				require.NoError(t, calls.Look(look, &seen))
				ids[who] = seen.ID
				if r == who {
					look.ID, look.Confirms = seen.ID, seen.Number
					require.NoError(t, calls.Look(look, &seen))
				}
			}
			_, err = w.verdict()
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
			} else {
				require.ErrorContains(t, err, "too little") // for there is no singleton
			}
		})
	}
}
