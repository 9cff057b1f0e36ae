package turns

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStandingsCanBeLeft: a loop may end at any call, whether that holds, waits in line, or waits
// until another call of its owner is decided. Queues come in any order, so it looks many times.
func TestStandingsCanBeLeft(t *testing.T) {
	s := newStory(t)
	for _, line := range []string{"call w write", "held h1", "call r read", "call a read reentry within=w", "call b read reentry within=w",
		"call other /b", "held h4", "call next /b"} {
		s.tell(strings.Fields(line))
	}
	for range 20 {
		for name, call := range s.calls {
			var last CallID
			for standing := range s.turns.Standings {
				if last = standing.Call; last == call {
					break
				}
			}
			require.Equal(t, call, last, name)
		}
	}
}
