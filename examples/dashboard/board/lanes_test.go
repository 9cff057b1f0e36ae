package board

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// readers is a reading in which all hold.
func readers(numbers ...int) *messages.Queue {
	q := &messages.Queue{Path: "/lock"}
	for _, n := range numbers {
		q.Contenders = append(q.Contenders, one(n, true))
	}
	return q
}

// TestLongHoldStaysOnTheLine: one reader holds on while a thousand others come and go.
func TestLongHoldStaysOnTheLine(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), readers())
	long, others := 0, 5*mostHolds
	second := func(n int) float64 { return float64(n) / 100 }
	has := func(now time.Time, what string) {
		t.Helper()
		v := b.Lock(now, "/lock", Shown{})
		require.LessOrEqual(t, len(v.Holds), mostLockBars, what)
		require.Equal(t, "c0", v.Holds[0].Who, what)
		lanes := b.Overview(now, "", 10).Lanes
		require.Len(t, lanes, 1)
		require.LessOrEqual(t, len(lanes[0].Holds), mostBars, what)
		require.Equal(t, "c0", lanes[0].Holds[0].Who, what)
	}
	for n := 1; n <= others; n++ {
		b.TakeQueue(after(second(n)), readers(long, n))
		require.Less(t, len(b.tracks["/lock"].holds), 2*mostHolds, "what is kept is bounded")
		if n%50 == 0 {
			has(after(second(n)), "it holds on")
		}
	}
	v := b.Lock(after(second(others)), "/lock", Shown{})
	require.Len(t, v.Holds, mostLockBars)
	require.Zero(t, v.Holds[0].To)
	for i, h := range v.Holds[1:] {
		require.Equal(t, fmt.Sprint("c", others-mostLockBars+2+i), h.Who, "the others are the newest, in their order")
	}
	over := after(second(others + 1))
	b.TakeQueue(over, readers())
	has(over, "it has just ended")
	require.Equal(t, over.UnixMilli(), b.Lock(over, "/lock", Shown{}).Holds[0].To)
}

// TestMoreHoldersThanAreShown: the longest are.
func TestMoreHoldersThanAreShown(t *testing.T) {
	b := New("/")
	var all []int
	for n := range 3 * mostHolds {
		all = append(all, n)
		b.TakeQueue(after(float64(n)), readers(all...))
	}
	v := b.Lock(after(float64(len(all))), "/lock", Shown{})
	require.Len(t, v.Holds, mostLockBars)
	for i, h := range v.Holds {
		require.Equal(t, fmt.Sprint("c", i), h.Who)
	}
}

// TestWhatIsOverLeavesTheLine: a hold that lasts does not keep those on the line that came after it and are long over.
func TestWhatIsOverLeavesTheLine(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), readers(0, 1))
	b.TakeQueue(after(1), readers(0))
	require.Len(t, b.Lock(after(2), "/lock", Shown{}).Holds, 2)
	require.Len(t, b.Lock(after(2).Add(lockBack), "/lock", Shown{}).Holds, 1)
	require.Len(t, b.Overview(after(2).Add(lanesBack), "", 1).Lanes[0].Holds, 1)
}
