package simulation

import (
	"slices"
	"strings"
	"testing"
)

// mostTries bounds how often a plan is run to make it shorter.
const mostTries = 300

// shrink leaves actions out of a plan that fails for as long as it goes on failing in the same way.
// It gives the places of the actions that remain.
func shrink(t *testing.T, p plan, violation string) []int {
	t.Helper()
	kept := make([]int, len(p.actions))
	for i := range kept {
		kept[i] = i
	}
	tries := 0
	for size := len(kept) / 2; size > 0; size /= 2 {
		for from := 0; from < len(kept) && tries < mostTries; {
			less := slices.Delete(slices.Clone(kept), from, min(from+size, len(kept)))
			tries++
			if result := run(t, p.only(less)); sort(result.violation) == sort(violation) {
				kept = less
			} else {
				from += size
			}
		}
	}
	return kept
}

// sort is a violation without the names of requests: what sort of violation it is.
func sort(violation string) string {
	what, _, _ := strings.Cut(violation, ":")
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, what)
}
