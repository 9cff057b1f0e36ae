package retry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPausesGrow from one range to the next, and never stop.
func TestPausesGrow(t *testing.T) {
	for failures, mean := range map[int]time.Duration{
		0: first, 1: first, 2: 2 * first, 3: longest, 4: longest, 1_000_000: longest,
	} {
		least, most := time.Hour, time.Duration(0)
		for range 1000 {
			pause := Pause(failures)
			least, most = min(least, pause), max(most, pause)
		}
		require.GreaterOrEqual(t, least, mean/2, "%d failures", failures)
		require.LessOrEqual(t, most, mean*3/2, "%d failures", failures)
		require.Greater(t, most-least, mean/2, "%d failures: jitter", failures)
	}
}

// TestLongPausesGrow from a tenth of a second to seconds.
func TestLongPausesGrow(t *testing.T) {
	for hangUps, mean := range map[int]time.Duration{
		1: first, 2: firstLong, 3: 2 * firstLong, 5: 8 * firstLong, 8: longestLong, 1_000_000: longestLong,
	} {
		for range 1000 {
			pause := LongPause(hangUps)
			require.GreaterOrEqual(t, pause, mean/2, "%d hang-ups", hangUps)
			require.LessOrEqual(t, pause, mean*3/2, "%d hang-ups", hangUps)
		}
	}
}
