package turns

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStandingsCanBeLeft: a loop may end at any call, whether that holds, waits in line, or waits for what becomes of another
// of its owner. Queues come in any order, so it looks many times.
func TestStandingsCanBeLeft(t *testing.T) {
	s := newStory(t)
	for _, line := range []string{"call w write", "held h1", "call r read", "call a read reentry within=w", "call b read reentry within=w",
		"call other /b", "held h4", "call next /b"} {
		s.tell(strings.Fields(line))
	}
	for range 20 {
		for id := range s.calls {
			seen := map[CallID]bool{}
			for standing := range s.turns.Standings {
				seen[standing.Call] = true
				if standing.Call == s.calls[id] {
					break
				}
			}
			require.True(t, seen[s.calls[id]], id)
		}
	}
}
