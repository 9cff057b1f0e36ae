package embedded_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// noon is the start of the tests' clocks. It is not a whole second, so that a truncation shows.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 123_000_000, time.UTC)

// frozen starts a server without the network on a clock that only the test moves, with ticks of 100 ms.
func frozen(t testing.TB, opts ...embedded.Option) (*embedded.Server, *embedded.ManualClock) {
	t.Helper()
	clock := embedded.NewManualClock(noon)
	opts = append([]embedded.Option{embedded.WithoutNetwork(), embedded.WithClock(clock)}, opts...)
	return embedded.Run(t, opts...), clock
}

// Timers run in the order in which they are due, and of those due at once the one set first goes first:
// a test that is repeated goes the same way. Each sees the clock at the time for which it was set.
func TestManualClockOrder(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	type firing struct {
		name string
		at   time.Duration
	}
	var fired []firing
	set := func(name string, d time.Duration) {
		clock.AfterFunc(d, func() { fired = append(fired, firing{name, clock.Now().Sub(noon)}) })
	}
	set("late", 3*time.Second)
	set("first", time.Second)
	set("second", time.Second)
	set("third", time.Second)
	set("at once", 0)
	clock.Advance(2 * time.Second)
	require.Equal(t, []firing{{"at once", 0}, {"first", time.Second}, {"second", time.Second}, {"third", time.Second}}, fired)
	require.Equal(t, noon.Add(2*time.Second), clock.Now(), "the clock stands where it was moved to")
	clock.Advance(time.Second - 1)
	require.Len(t, fired, 4, "not before it is due")
	clock.Advance(1)
	require.Equal(t, firing{"late", 3 * time.Second}, fired[4], "due at the very end counts")
	clock.Advance(time.Hour)
	require.Len(t, fired, 5, "a timer fires once")
}

// A timer that was stopped never fires, also when another that is due at the same time stops it. Stopping
// again, or too late, does nothing.
func TestManualClockStop(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	fired := 0
	stop := clock.AfterFunc(time.Second, func() { fired++ })
	stop()
	stop()
	var stopOther func()
	clock.AfterFunc(time.Second, func() { stopOther() })
	stopOther = clock.AfterFunc(time.Second, func() { fired++ })
	kept := clock.AfterFunc(time.Second, func() { fired += 10 })
	clock.Advance(time.Minute)
	require.Equal(t, 10, fired)
	kept()
	clock.Advance(time.Minute)
	require.Equal(t, 10, fired)
}

// A timer set by another one's function is reckoned from when that was due, and fires in the same Advance
// when its time lies within: a server's tick sets the next one, and an hour has all of its ticks.
func TestManualClockTimerSetWhileAdvancing(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	var ticks []time.Duration
	var tick func()
	tick = func() {
		ticks = append(ticks, clock.Now().Sub(noon))
		clock.AfterFunc(time.Second, tick)
	}
	clock.AfterFunc(time.Second, tick)
	clock.Advance(3500 * time.Millisecond)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, ticks)
	clock.Advance(500 * time.Millisecond)
	require.Len(t, ticks, 4)
}

// The clock never goes back: not when it is moved by less than nothing, nor when several goroutines, or a
// timer's own function, move it at once. A server that saw time go back would let sessions live too long.
func TestManualClockNeverGoesBack(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	clock.Advance(-time.Hour)
	require.Equal(t, noon, clock.Now())

	clock.AfterFunc(time.Second, func() { clock.Advance(time.Minute) })
	clock.AfterFunc(2*time.Second, func() {})
	clock.Advance(3 * time.Second)
	require.Equal(t, noon.Add(time.Second+time.Minute), clock.Now())

	var movers sync.WaitGroup
	for range 4 {
		movers.Go(func() {
			seen := clock.Now()
			for i := range 200 {
				clock.AfterFunc(time.Duration(i%7)*time.Millisecond, func() {})
				clock.Advance(time.Duration(i%11) * time.Millisecond)
				now := clock.Now()
				if now.Before(seen) {
					t.Errorf("it was %v and is %v", seen, now)
					return
				}
				seen = now
			}
		})
	}
	movers.Wait()
}

// Several servers share a clock, and one Advance moves all of them. One that is closed has no timer left.
func TestManualClockSeveralServers(t *testing.T) {
	one, clock := frozen(t)
	other, err := embedded.Start(embedded.WithoutNetwork(), embedded.WithClock(clock))
	require.NoError(t, err)
	defer other.Close()
	openRaw(t, one, 0, time.Second)
	openRaw(t, other, 0, 2*time.Second)
	clock.Advance(time.Second)
	require.Empty(t, one.Sessions())
	require.Len(t, other.Sessions(), 1)
	other.Close()
	clock.Advance(time.Minute)
	require.Len(t, other.Sessions(), 1, "a closed server has no ticks")
}

// The times in a Stat are the clock's, to the millisecond.
func TestClockGivesStatTimes(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	clock.Advance(4321 * time.Millisecond)
	c.create("/a", plain)
	created := noon.Add(4321 * time.Millisecond).UnixMilli()
	st := c.stat("/a")
	require.Equal(t, []int64{created, created}, []int64{st.ctime, st.mtime})
	clock.Advance(1001 * time.Millisecond)
	r := c.call(embedded.OpSetData, "/a", []byte("y"), anyVersion).must()
	st = r.record.stat()
	require.Equal(t, []int64{created, created + 1001}, []int64{st.ctime, st.mtime})
}

// Without a clock of its own a server takes the system's.
func TestSystemClock(t *testing.T) {
	s := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Millisecond), embedded.WithSessionTimeouts(time.Millisecond, time.Minute))
	before := time.Now().UnixMilli()
	watcher := openRaw(t, s, 0, time.Minute)
	watcher.create("/a", plain)
	require.GreaterOrEqual(t, watcher.stat("/a").ctime, before)
	require.LessOrEqual(t, watcher.stat("/a").ctime, time.Now().UnixMilli())
	short := dialRaw(t, s, 0)
	short.greet(0, time.Millisecond, 0, make([]byte, 16))
	for short.take() != nil {
		// the greeting comes only if the session lives long enough for it
	}
	require.Len(t, s.Sessions(), 1, "it has expired, which nothing but the clock brings about")
}
