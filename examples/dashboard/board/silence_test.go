package board

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
)

// TestSilence: a silence is told when it has lasted for a second, from its beginning on, and stays as a gap on the time
// lines until they have gone past it.
func TestSilence(t *testing.T) {
	b := New("/")
	at := func(after time.Duration) time.Time { return start.Add(after) }
	reads := func(now time.Duration, phase actors.Phase, silence time.Duration) bool {
		changed := b.Changed()
		b.TakeSession(at(now), actors.Connection{Phase: phase, Silence: silence})
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	shows := func(now, since time.Duration, gaps ...GapRow) {
		t.Helper()
		all, one := b.Overview(at(now), "", 1), b.Lock(at(now), "/lock", Shown{})
		for _, silent := range []int64{all.Figures.Silent, one.Figures.Silent} {
			if since < 0 {
				require.Zero(t, silent)
			} else {
				require.Equal(t, at(since).UnixMilli(), silent)
			}
		}
		require.Equal(t, gaps, one.Gaps)
	}
	gap := func(from, to time.Duration) GapRow {
		g := GapRow{From: at(from).UnixMilli()}
		if g.ID = (silences{}).id(g.From); to > 0 {
			g.To = at(to).UnixMilli()
		}
		return g
	}
	reads(0, actors.Connected, 0)
	reads(time.Second, actors.Disconnected, 500*time.Millisecond)
	shows(time.Second, -1)
	require.True(t, reads(2*time.Second, actors.Disconnected, 1500*time.Millisecond))
	shows(2*time.Second, 500*time.Millisecond, gap(500*time.Millisecond, 0))
	require.False(t, reads(3*time.Second, actors.Disconnected, 2500*time.Millisecond))
	shows(3*time.Second, 500*time.Millisecond, gap(500*time.Millisecond, 0))
	require.True(t, reads(4*time.Second, actors.Connected, 0))
	shows(4*time.Second, -1, gap(500*time.Millisecond, 4*time.Second))
	reads(9*time.Second, actors.Unanswered, time.Second)
	shows(9*time.Second, 8*time.Second, gap(500*time.Millisecond, 4*time.Second), gap(8*time.Second, 0))
	require.Equal(t, []GapRow{gap(8*time.Second, 0)}, b.Overview(at(lanesBack+5*time.Second), "", 1).Gaps)
}
