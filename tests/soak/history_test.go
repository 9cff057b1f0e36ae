package main

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// inOrder is a history in which nothing is wrong: n holds, each of 100 instants, of two workers in turn,
// who both wait all the time.
func inOrder(n int) []*grant {
	var all []*grant
	for i := range n {
		begin := int64(1000 + 100*i)
		all = append(all, &grant{by: holder{Worker: i % 2}, token: int64(10 + i), call: max(0, begin-190), at: begin + 5,
			end: begin + 80, closed: true, released: begin + 81, unlockReturn: begin + 90,
			writes: []write{{begin + 10, begin + 12, true}, {begin + 40, begin + 45, true}}})
	}
	return all
}

func verdict(history []*grant) porcupine.CheckResult { return check(history, 10*time.Second) }

func TestHistoryInOrderIsLinearizable(t *testing.T) {
	require.Equal(t, porcupine.Ok, verdict(inOrder(500)))
}

func TestSeededViolationsAreFound(t *testing.T) {
	for name, seed := range map[string]func(h []*grant){
		"two holders at once": func(h []*grant) { h[5].end, h[5].released = h[6].at+10, h[6].at+11 },
		"two holders interleaved": func(h []*grant) {
			h[5].writes = append(h[5].writes, write{h[6].at + 20, h[6].at + 22, true})
			h[6].writes = []write{{h[6].at + 5, h[6].at + 7, true}, {h[6].at + 30, h[6].at + 32, true}}
		},
		"a token that goes back":         func(h []*grant) { h[5].token, h[6].token = h[6].token, h[5].token },
		"a valid holder that is refused": func(h []*grant) { h[5].writes[1].ok = false },
		"a late write that is accepted": func(h []*grant) {
			h[5].writes = append(h[5].writes, write{h[8].at, h[8].at + 1, true})
		},
		"a lease that outlasts its loss": func(h []*grant) {
			h[5].lost, h[5].end = true, h[7].at+1
		},
	} {
		t.Run(name, func(t *testing.T) {
			history := inOrder(20)
			seed(history)
			require.Equal(t, porcupine.Illegal, verdict(history))
		})
	}
}

func TestWhatAFenceIsForIsNoError(t *testing.T) {
	for name, seed := range map[string]func(h []*grant){
		"a late write that is refused": func(h []*grant) {
			h[5].writes = append(h[5].writes, write{h[8].at + 20, h[8].at + 21, false})
		},
		"a late write before anybody else's": func(h []*grant) {
			h[5].lost, h[5].unlockReturn = true, 0
			h[5].writes = append(h[5].writes, write{h[6].at, h[6].at + 1, true})
		},
		"a holder that was killed": func(h []*grant) {
			h[5].unlockReturn = 0
		},
		"a grant that was over when Lock returned": func(h []*grant) {
			h[5].end, h[5].writes, h[5].at, h[5].lost = 0, nil, h[9].at, true
		},
		"a reply of Unlock that came after the next grant": func(h []*grant) { h[5].unlockReturn = h[7].at },
	} {
		t.Run(name, func(t *testing.T) {
			history := inOrder(20)
			seed(history)
			require.Equal(t, porcupine.Ok, verdict(history))
		})
	}
}

func TestWindowsAreCutWhereAllIsOver(t *testing.T) {
	history := inOrder(50)
	windows, left := cut(history, 10)
	require.Len(t, windows, 4)
	require.Len(t, left, 10)
	for _, w := range windows {
		require.Equal(t, porcupine.Ok, verdict(w))
	}
	// A late write of the ninth after the twelfth holds keeps them in one window.
	history[8].writes = append(history[8].writes, write{history[11].at + 20, history[11].at + 21, false})
	windows, _ = cut(history, 10)
	require.Len(t, windows[0], 12)
	require.Equal(t, porcupine.Ok, verdict(windows[0]))
	// Two holders at once stay together, so that they are found.
	history = inOrder(50)
	history[9].end = history[10].at + 10
	windows, _ = cut(history, 10)
	require.Len(t, windows[0], 11)
	require.Equal(t, porcupine.Illegal, verdict(windows[0]))
}
