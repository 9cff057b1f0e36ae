package lease

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewClock(nil)
		require.False(t, l.Valid(), "nothing has extended it")
		require.True(t, l.Deadline().IsZero())

		until := time.Now().Add(4 * time.Second)
		l.Extend(until)
		require.Equal(t, until, l.Deadline())
		l.Extend(until.Add(-time.Second))
		require.Equal(t, until, l.Deadline(), "never backwards")

		time.Sleep(3 * time.Second)
		l.Extend(until.Add(3 * time.Second))
		time.Sleep(4*time.Second - 1)
		require.True(t, l.Valid())
		time.Sleep(time.Nanosecond)
		require.False(t, l.Valid(), "the deadline itself is over")
		require.Equal(t, until.Add(3*time.Second), l.Deadline(), "it is known when that was")
		l.Extend(time.Now())
		require.False(t, l.Valid(), "an extension that is over already does not count")
	})
}

func TestClockIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewClock(nil)
		l.set(l.now(), l.now(), false)
		require.False(t, l.Valid(), "what is over already begins no term")
		l.set(l.now()+10*time.Second, l.now(), false)
		require.Equal(t, time.Now().Add(10*time.Second), l.Deadline())
		term, _ := l.Term()
		l.set(l.now()+20*time.Second, l.now(), false)
		require.Equal(t, time.Now().Add(20*time.Second), l.Deadline(), "later, too")
		l.set(l.now()+time.Second, l.now(), false)
		require.True(t, l.Unbroken(term))
		time.Sleep(time.Second)
		require.False(t, l.Unbroken(term))
		l.set(l.now()+time.Second, l.now(), false)
		require.True(t, l.Valid(), "another term")
		require.False(t, l.Unbroken(term))
		l.set(l.now()-time.Second, l.now(), false)
		require.False(t, l.Valid(), "sooner than now")
		l.End()
		l.set(l.now()+time.Hour, l.now(), false)
		require.False(t, l.Valid(), "a proof that came late")
	})
}

func TestClockEnds(t *testing.T) {
	l := NewClock(nil)
	l.Extend(time.Now().Add(time.Hour))
	term, _ := l.Term()
	l.End()
	require.False(t, l.Valid())
	require.True(t, l.Deadline().IsZero())
	l.Extend(time.Now().Add(2 * time.Hour))
	require.False(t, l.Valid(), "a late reply of the session that ended")
	require.False(t, l.Unbroken(term))
	require.False(t, l.Expired())
	l.end(true)
	require.False(t, l.Expired(), "the first end counts")
}

// TestClockExpires: a caller that finds the lease over can tell that the session is over, too.
func TestClockExpires(t *testing.T) {
	l := NewClock(nil)
	l.Extend(time.Now().Add(time.Hour))
	require.False(t, l.Expired())
	l.end(true)
	require.False(t, l.Valid())
	require.True(t, l.Expired())
	l.End()
	l.Extend(time.Now().Add(time.Hour))
	require.True(t, l.Expired(), "it stays so")
}

// Who relied on a lease that ran out has lost it, for good, though the same session extends the clock later.
func TestClockKnowsItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewClock(nil)
		l.Extend(time.Now().Add(4 * time.Second))
		term, valid := l.Term()
		require.True(t, valid)
		time.Sleep(3 * time.Second)
		l.Extend(time.Now().Add(4 * time.Second))
		time.Sleep(3 * time.Second)
		require.True(t, l.Unbroken(term), "extended in time")

		time.Sleep(time.Second)
		l.Extend(time.Now().Add(4 * time.Second)) // nobody has looked in between
		require.True(t, l.Valid())
		require.False(t, l.Unbroken(term))
		second, _ := l.Term()
		require.True(t, l.Unbroken(second), "what is granted from now on")

		time.Sleep(4 * time.Second)
		third, valid := l.Term()
		require.False(t, valid)
		l.Extend(time.Now().Add(4 * time.Second))
		require.True(t, l.Unbroken(third), "the term that was to come has begun")
		require.False(t, l.Unbroken(second))
	})
}

// TestClockCountsSuspendedTime: the servers' clocks go on while the machine is suspended. A
// lease that was over stays over with any later readings: a wall clock that jumped there and back
// made one valid again.
func TestClockCountsSuspendedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended time.Duration
		l := NewClock(func() time.Duration { return suspended })
		l.Extend(time.Now().Add(4 * time.Second))
		term, _ := l.Term()
		time.Sleep(time.Second)
		suspended = 3*time.Second - 1
		require.True(t, l.Unbroken(term))
		require.Equal(t, time.Now().Add(1), l.Deadline(), "as package time counts")
		suspended++
		require.False(t, l.Unbroken(term))
		suspended = 0
		require.False(t, l.Unbroken(term), "once over it stays over")
		require.False(t, l.Valid())
	})
}

func TestSystemSuspended(t *testing.T) {
	suspended := systemSuspended()
	for range 10_000 {
		require.Zero(t, suspended(time.Now()), "nobody has suspended this machine")
	}
}

// TestWallSuspended: package time makes no time whose wall clock has moved while the monotonic one has not, hence the
// gains by themselves.
func TestWallSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		suspended := wallSuspended()
		time.Sleep(time.Hour)
		require.Zero(t, suspended(time.Now()), "both clocks have gone")
	})
}

func TestClockFromManyGoroutines(t *testing.T) {
	l := NewClock(nil)
	start := time.Now()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 200 {
				l.Extend(start.Add(time.Hour + time.Duration(i+8*k)*time.Millisecond))
				l.Valid()
			}
		})
	}
	all.Wait()
	require.WithinDuration(t, start.Add(time.Hour+1599*time.Millisecond), l.Deadline(), time.Microsecond)
	term, _ := l.Term()
	require.EqualValues(t, 1, term)
}

// A deadline that is set to and fro, and extended meanwhile, is always one of those that were given, in one term.
func TestClockIsSetFromManyGoroutines(t *testing.T) {
	l := NewClock(nil)
	start := l.now()
	l.set(start+time.Hour, start, false)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 200 {
				until := start + time.Hour + time.Duration(i+8*k)*time.Second
				if i == 0 {
					l.ExtendTo(time.Duration(until))
				} else {
					l.set(until, l.now(), false)
				}
				assert.True(t, l.Unbroken(1))
			}
		})
	}
	all.Wait()
	left := l.state.Load().deadline - (start + time.Hour)
	require.Zero(t, time.Duration(left)%time.Second)
	require.Less(t, time.Duration(left), 1600*time.Second)
	require.True(t, l.Unbroken(1))
}

// Two who look at a lease as it runs out begin one new term, not two.
func TestClockEndsARunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewClock(nil)
		l.Extend(time.Now().Add(time.Second))
		time.Sleep(time.Second)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { l.Term() })
		}
		all.Wait()
		term, _ := l.Term()
		require.EqualValues(t, 2, term)
	})
}

// follower notes when it is told, and how often.
type follower struct{ told []time.Time }

func (f *follower) TermEnded() { f.told = append(f.told, time.Now()) }

// TestClockTellsFollowers: at the deadline, as it stands then, and at once where the session is over. A lease that its
// owner ends is told at the former deadline, because the owner tells more, and sooner.
func TestClockTellsFollowers(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(l *Clock)
		after   time.Duration
	}{
		"nothing":        {func(*Clock) {}, 4 * time.Second},
		"renewed":        {func(l *Clock) { l.Extend(time.Now().Add(9 * time.Second)) }, 10 * time.Second},
		"shortened":      {func(l *Clock) { l.set(l.now()+time.Second, l.now(), false) }, 2 * time.Second},
		"expired":        {func(l *Clock) { l.end(true) }, time.Second},
		"ended":          {(*Clock).End, 4 * time.Second},
		"in a next term": {func(l *Clock) { time.Sleep(3 * time.Second); l.Extend(time.Now().Add(time.Hour)) }, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, begun := NewClock(nil), time.Now()
				l.Extend(begun.Add(4 * time.Second))
				term, _ := l.Term()
				f, gone, late := &follower{}, &follower{}, &follower{}
				l.Follow(term, f)
				l.Follow(term, gone)
				l.Unfollow(gone)
				time.Sleep(time.Second)
				c.happens(l)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, []time.Time{begun.Add(c.after)}, f.told)
				require.Empty(t, gone.told)
				l.Follow(term, late)
				synctest.Wait()
				require.Len(t, late.told, 1, "at once")
			})
		})
	}
}

// TestClockTellsInTime: a function for suspended time that is stuck keeps nobody from hearing of the deadline. One that
// panics ends the lease; one that says that the machine was suspended has it told at the next look.
func TestClockTellsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended func() time.Duration
		none := func() time.Duration { return 0 }
		fresh := func() (*Clock, *follower) {
			suspended = none
			l := NewClock(func() time.Duration { return suspended() })
			l.Extend(time.Now().Add(4 * time.Second))
			term, _ := l.Term()
			f := &follower{}
			l.Follow(term, f)
			return l, f
		}
		never, begun := make(chan struct{}), time.Now()
		_, f := fresh()
		suspended = func() time.Duration { <-never; return 0 }
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []time.Time{begun.Add(4 * time.Second)}, f.told)
		close(never)

		l, f := fresh()
		suspended = func() time.Duration { panic("suspended") }
		require.False(t, l.Valid())
		require.True(t, l.failed.Load())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, f.told, 1)

		l, f = fresh()
		begun, suspended = time.Now(), func() time.Duration { return time.Hour }
		require.False(t, l.Valid())
		synctest.Wait()
		require.Equal(t, []time.Time{begun}, f.told)
	})
}

// BenchmarkFollow measures what a lease costs its clock, with 4 000 others.
func BenchmarkFollow(b *testing.B) {
	l := NewClock(nil)
	l.Extend(time.Now().Add(time.Hour))
	term, _ := l.Term()
	for range 4000 {
		l.Follow(term, &follower{})
	}
	f := &follower{}
	b.ReportAllocs()
	for b.Loop() {
		l.Follow(term, f)
		l.Unfollow(f)
	}
}
