package stalls

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// hold is one lease, and the time during which it was valid for certain.
type hold struct {
	affected bool // the fault befalls its session
	valid    func() bool
	token    int64
	from     time.Time // zero: it was over when Lock returned
	until    time.Time
	over     bool // nobody looks at it any more
}

// look notes that the hold is valid now, if it is. The clock is read before the
// lease: a lease that is valid afterwards was valid then.
func (h *hold) look() {
	at := time.Now()
	switch {
	case h.over:
	case h.valid():
		h.until = at
	default:
		h.over = true
	}
}

// ledger has the holders of one exclusive lock path, and the times at which they held for certain.
type ledger struct {
	mu    sync.Mutex
	holds []*hold
}

// granted adds a hold and looks at all others: one that is valid still overlaps.
func (l *ledger) granted(affected bool, valid func() bool, token int64) *hold {
	h := &hold{affected: affected, valid: valid, token: token}
	at := time.Now()
	if valid() {
		h.from, h.until = at, at
	} else {
		h.over = true
	}
	l.mu.Lock()
	l.holds = append(l.holds, h)
	l.mu.Unlock()
	l.look()
	return h
}

// look looks at all holds.
func (l *ledger) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds {
		h.look()
	}
}

// end looks at a hold for the last time, right before its lease is given back.
func (l *ledger) end(h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.look()
	h.over = true
}

// overlap is two holds that were valid at the same time.
type overlap struct {
	first, second *hold
	length        time.Duration // 0: there was one instant at least
}

// judge compares every pair of holds: overlaps, and valid holds with a smaller token than an earlier one had.
func (l *ledger) judge() (overlaps []overlap, disorder int) {
	for _, a := range l.holds {
		for _, b := range l.holds {
			if a.from.IsZero() || b.from.IsZero() || !a.from.Before(b.from) {
				continue
			}
			if a.token > b.token {
				disorder++
			}
			end := a.until
			if b.until.Before(end) {
				end = b.until
			}
			if !end.Before(b.from) {
				overlaps = append(overlaps, overlap{a, b, end.Sub(b.from)})
			}
		}
	}
	return overlaps, disorder
}

// TestLedger: an overlap needs an instant at which both leases were valid for certain.
func TestLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		var over [5]atomic.Bool
		grant := func(i int, token int64) *hold {
			return l.granted(true, func() bool { return !over[i].Load() }, token)
		}
		first := grant(0, 20)
		time.Sleep(time.Second)
		second := grant(1, 10)
		time.Sleep(time.Second)
		l.look()
		over[0].Store(true)
		time.Sleep(time.Second)
		l.end(first) // late, which does not prolong it
		over[2].Store(true)
		grant(2, 5) // it was over when Lock returned
		l.end(second)
		require.Equal(t, 3*time.Second, second.until.Sub(first.from))
		time.Sleep(time.Second)
		grant(3, 30)
		found, disorder := l.judge()
		require.Equal(t, []overlap{{first, second, time.Second}}, found)
		require.Equal(t, 1, disorder)
		time.Sleep(time.Second)
		grant(4, 40) // one common instant
		found, _ = l.judge()
		require.Len(t, found, 2)
		require.Zero(t, found[1].length)
	})
}
