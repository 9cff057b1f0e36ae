package main

import (
	"sync"
	"time"
)

// lease is the part of a [locks.Lease] that a ledger needs.
type lease interface{ Valid() bool }

// hold is one lease, and the time during which it was valid for certain.
type hold struct {
	side  side
	lease lease
	token int64
	from  time.Time // zero: it was over when Lock returned
	until time.Time
	over  bool // nobody looks at it any more
	lost  bool // it ended before it was given back
	// session is the session that held.
	session int64
}

// valid reports whether the hold was ever valid for certain.
func (h *hold) valid() bool { return !h.from.IsZero() }

// look notes that the hold is valid now, if it is. The clock is read before the
// lease: a lease that is valid afterwards was valid then.
func (h *hold) look() {
	at := time.Now()
	switch {
	case h.over:
	case h.lease.Valid():
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
func (l *ledger) granted(s side, granted lease, token, session int64) *hold {
	h := &hold{side: s, lease: granted, token: token, session: session}
	at := time.Now()
	if granted.Valid() {
		h.from, h.until = at, at
	} else {
		h.over = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds = append(l.holds, h)
	for _, each := range l.holds {
		each.look()
	}
	return h
}

// grants is the number of holds.
func (l *ledger) grants() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.holds)
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
func (l *ledger) end(h *hold, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.look()
	h.over, h.lost = true, lost
}

// overlap is two holds that were valid at the same time.
type overlap struct {
	first, second *hold
	length        time.Duration // 0: there was one instant at least
}

// overlaps compares every pair.
func (l *ledger) overlaps() (found []overlap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, a := range l.holds {
		for _, b := range l.holds[i+1:] {
			if !a.valid() || !b.valid() {
				continue
			}
			begin, end := a.from, a.until
			if b.from.After(begin) {
				begin = b.from
			}
			if b.until.Before(end) {
				end = b.until
			}
			if !end.Before(begin) {
				found = append(found, overlap{a, b, end.Sub(begin)})
			}
		}
	}
	return found
}

// disorder counts the valid holds whose token is smaller than the token of a hold that was
// certainly valid before.
func (l *ledger) disorder() (count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, late := range l.holds {
		for _, early := range l.holds {
			if early.valid() && late.valid() && early.from.Before(late.from) && early.token > late.token {
				count++
				break
			}
		}
	}
	return count
}
