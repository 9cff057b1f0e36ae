package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// TestGoneSaysWhatWasSeen: the queue is read now and then. A waiter that is gone with all before it
// may have held meanwhile. One that is gone while its predecessor is there has not.
func TestGoneSaysWhatWasSeen(t *testing.T) {
	holder := messages.Contender{Path: "/a", Node: "n-1", Holds: true}
	second := messages.Contender{Path: "/a", Node: "n-2", WaitsFor: []string{"n-1"}}
	third := messages.Contender{Path: "/a", Node: "n-3", WaitsFor: []string{"n-2"}}
	more := func(before, now []messages.Contender) map[string]string {
		all := map[string]string{}
		for _, c := range changes(before, now) {
			all[c.what+" "+c.Node] = c.more()
		}
		return all
	}
	require.Equal(t, map[string]string{"gone n-1": ", held it", "gone n-2": ", not seen to hold it",
		"gone n-3": ", not seen to hold it"}, more([]messages.Contender{holder, second, third}, nil))
	require.Equal(t, map[string]string{"gone n-2": ", never held it"},
		more([]messages.Contender{holder, second}, []messages.Contender{holder}))
}
