package lease

import (
	"encoding/binary"
	"slices"
)

// Clone gives a chain that goes on by itself from the same state, for the checker.
func (c *Chain) Clone() *Chain {
	next := *c
	next.flights = slices.Clone(c.flights)
	next.trips.all = append(make([]trip, 0, cap(c.trips.all)), c.trips.all...) // add goes by the capacity
	return &next
}

// AppendState appends the state that decides how the chain behaves.
func (c *Chain) AppendState(to []byte) []byte {
	num := func(all ...Instant) {
		for _, n := range all {
			to = binary.AppendVarint(to, int64(n))
		}
	}
	flag := func(b bool) Instant {
		if b {
			return 1
		}
		return 0
	}
	t := &c.trips
	num(c.timeout, Instant(c.phase), c.sure, c.here, flag(c.proved), Instant(c.connections), c.opening, c.lastSent,
		c.lastTrip, c.lastCommit, c.slowest)
	if c.phase != answered {
		return to
	}
	num(t.half, t.settle, t.grain, Instant(cap(t.all)), Instant(len(t.all)))
	for _, r := range append([]trip{t.opened}, t.all...) {
		num(r.touched, r.sent, r.answered)
	}
	for _, f := range c.flights {
		num(Instant(f.xid), flag(f.committed), f.touched, f.sent)
	}
	return to
}
