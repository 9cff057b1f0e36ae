package zkconn

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeaseClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLeaseClock(0.4)
		require.False(t, l.Valid(), "nothing has renewed it")
		require.True(t, l.Deadline().IsZero())

		sent := time.Now()
		l.Renew(sent, 10*time.Second)
		require.Equal(t, sent.Add(4*time.Second), l.Deadline())
		require.True(t, l.Valid())
		require.True(t, l.ValidAt(sent.Add(4*time.Second-1)))
		require.False(t, l.ValidAt(sent.Add(4*time.Second)), "the deadline itself is over")

		l.Renew(sent.Add(-time.Second), 10*time.Second)
		l.Renew(sent, time.Second)
		l.Renew(sent, 0)
		l.Renew(sent, -time.Hour)
		require.Equal(t, sent.Add(4*time.Second), l.Deadline(), "never backwards")

		time.Sleep(3 * time.Second)
		l.Renew(time.Now(), 10*time.Second)
		time.Sleep(3 * time.Second)
		require.True(t, l.Valid())
		time.Sleep(time.Second)
		require.False(t, l.Valid())
	})
}

func TestLeaseClockEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLeaseClock(0.4)
		before := time.Now()
		l.Renew(before, 10*time.Second)
		time.Sleep(time.Second)
		late := time.Now()
		l.End()
		require.False(t, l.Valid())
		require.True(t, l.Deadline().IsZero())
		l.Renew(before, time.Hour)
		l.Renew(late, time.Hour)
		require.False(t, l.Valid(), "a late reply of the session that ended")
		time.Sleep(time.Second)
		l.Renew(time.Now(), time.Second)
		require.True(t, l.Valid(), "a later session, whose timeout may be shorter")
	})
}

// Who relied on a lease that ran out has lost it, for good, though the same session renews the clock later.
func TestLeaseClockKnowsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLeaseClock(0.4)
		require.False(t, l.Unbroken(time.Now().Add(time.Hour)), "nothing has renewed it")
		require.False(t, l.Renew(time.Now(), 10*time.Second), "there was no lease before")
		until := l.Deadline()
		require.True(t, l.Unbroken(until))
		time.Sleep(3 * time.Second)
		require.False(t, l.Renew(time.Now(), 10*time.Second))
		time.Sleep(3 * time.Second)
		require.True(t, l.Unbroken(until), "renewed in time")

		time.Sleep(time.Second)
		require.False(t, l.Unbroken(until))
		require.True(t, l.Renew(time.Now(), 10*time.Second))
		require.True(t, l.Valid())
		require.False(t, l.Unbroken(until))
		require.True(t, l.Unbroken(l.Deadline()), "what is granted from now on")

		l.End()
		time.Sleep(time.Second)
		require.False(t, l.Renew(time.Now(), 10*time.Second), "End has told already")
		require.False(t, l.Unbroken(until))
	})
}

// Package time makes no time whose wall clock has moved while the monotonic one has not, hence the difference by itself.
func TestLeaseClockNoticesAJump(t *testing.T) {
	now := time.Now()
	l := NewLeaseClock(0.4)
	l.Renew(now, 10*time.Second)
	require.True(t, l.ValidAt(now))
	for jump, valid := range map[time.Duration]bool{
		0: true, 2500 * time.Millisecond: true, 2501 * time.Millisecond: false, -2500 * time.Millisecond: true, -2501 * time.Millisecond: false,
	} {
		require.Equal(t, valid, l.state.Load().steady(time.Second+jump, time.Second), "jump of %v", jump)
	}
}

func TestLeaseFractionOutOfRangeIsTheDefault(t *testing.T) {
	for _, fraction := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		require.Equal(t, DefaultLeaseFraction, NewLeaseClock(fraction).fraction)
	}
	require.Equal(t, 0.6, NewLeaseClock(0.6).fraction)
}

func TestLeaseClockFromManyGoroutines(t *testing.T) {
	l := NewLeaseClock(0.4)
	start := time.Now()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 200 {
				l.Renew(start.Add(time.Duration(i+8*k)*time.Millisecond), time.Hour)
				l.Valid()
			}
		})
	}
	all.Wait()
	newest := start.Add(1599 * time.Millisecond)
	require.True(t, l.Deadline().Equal(newest.Add(time.Duration(0.4*float64(time.Hour)))))
}
