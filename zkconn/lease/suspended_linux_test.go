package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSuspensionIsSeenAtOnce: the system's clock is read again when the wall clock has moved against the monotonic one,
// whichever way, and after a while; otherwise it is not.
func TestSuspensionIsSeenAtOnce(t *testing.T) {
	var wall, monotonic, suspended time.Duration
	reads := 0
	s := suspension{
		read:   func() time.Duration { reads++; return suspended },
		clocks: func(time.Time) (time.Duration, time.Duration) { return wall, monotonic },
	}
	pass := func(d time.Duration) { wall, monotonic = wall+d, monotonic+d }
	require.Zero(t, s.since(time.Now()))
	for range 100 {
		pass(suspensionKnown / 200)
		wall += time.Microsecond // a wall clock that is slewed
		require.Zero(t, s.since(time.Now()))
	}
	require.Equal(t, 1, reads)

	wall, suspended = wall+5*time.Second, suspended+5*time.Second
	require.Equal(t, 5*time.Second, s.since(time.Now()), "the machine was suspended")
	reads = 0
	require.Equal(t, 5*time.Second, s.since(time.Now()))
	require.Zero(t, reads)

	wall -= time.Hour
	require.Equal(t, 5*time.Second, s.since(time.Now()), "the wall clock was set back")
	require.NotZero(t, reads)

	suspended += time.Minute
	require.Equal(t, 5*time.Second, s.since(time.Now()), "the wall clock was set back by as much, at the same moment")
	pass(suspensionKnown)
	require.Equal(t, time.Minute+5*time.Second, s.since(time.Now()), "that is found out soon")

	wall, suspended = wall+time.Second, 0
	require.Equal(t, time.Minute+5*time.Second, s.since(time.Now()), "it never gives less than before")
}

// BenchmarkSuspended measures a reading of the lease clock.
func BenchmarkSuspended(b *testing.B) {
	suspended := systemSuspended()
	for b.Loop() {
		suspended(time.Now())
	}
}
