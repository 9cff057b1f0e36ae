package turns

import "time"

// print writes all that decides what the machine does from here on. Times are relative.
func (t *Turns) print(b []byte) []byte {
	at := t.now.At
	num := func(all ...int) {
		for _, n := range all {
			b = append(b, byte(n), byte(n>>8))
		}
	}
	span := func(d time.Duration) { num(int(max(-9999, (d-at)/time.Millisecond))) }
	ref := func(l calls) {
		num(l.n)
		for c := l.first; c != nil; c = c.next {
			num(int(uint32(c.id)))
		}
	}
	holds := func(all []*hold) {
		num(len(all))
		for _, h := range all {
			num(int(uint32(h.id)))
		}
	}
	slot := func(h *hold) int {
		if h == nil {
			return -1
		}
		return int(uint32(h.id))
	}
	bit := func(all ...bool) {
		for _, v := range all {
			if v {
				num(1)
			} else {
				num(0)
			}
		}
	}
	num(t.kept, int(max(0, t.making-at)))
	bit(t.ending)
	for _, c := range t.calls {
		if num(int(c.phase)); c.phase == ended {
			continue
		}
		num(int(c.bound), int(c.number), slot(c.hold), int(uint32(c.sameOwner.id)))
		span(c.due)
	}
	for _, h := range t.holds {
		if num(int(h.phase)); h.phase == gone {
			continue
		}
		num(int(h.link), int(h.watch), int(h.rivals), int(uint32(h.beside)), h.serves, h.before, h.places, h.grants, h.counted, h.txns)
		bit(h.try, h.checking, h.resting, h.waits)
		if h.call != nil {
			num(int(uint32(h.call.id)))
		}
		ref(h.users)
		num(int(h.term), int(h.token), int(h.token>>16), int(h.left/time.Millisecond))
		span(h.due)
		span(h.until)
		span(h.since)
		span(h.proved)
	}
	for _, q := range t.queues {
		num(len(q.lines), int(q.newest), int(q.newest>>16), int(q.newestWrite), int(q.newestWrite>>16))
		ref(q.awaiting)
		for _, l := range q.lines {
			bit(l.closed)
			ref(l.waiting)
			holds(l.asked)
			holds(l.open)
		}
	}
	return b
}
