package turns

import (
	"maps"
	"slices"
	"time"
)

// clone copies the state.
func (t *Turns) clone() *Turns {
	n := *t
	n.out, n.taken, n.over = nil, nil, nil
	n.queues = maps.Clone(t.queues)
	n.calls, n.holds = make([]*call, len(t.calls)), make([]*hold, len(t.holds))
	n.free.queues, n.free.lines = nil, nil
	n.free.calls, n.free.holds = slices.Clone(t.free.calls), slices.Clone(t.free.holds)
	for i, c := range t.calls {
		copied := *c
		n.calls[i] = &copied
	}
	for i, h := range t.holds {
		copied := *h
		n.holds[i] = &copied
	}
	lines := map[*line]*line{}
	for key, q := range t.queues {
		copied := *q
		copied.awaiting = n.list(q.awaiting)
		copied.lines = make([]*line, len(q.lines))
		for i, l := range q.lines {
			made := *l
			made.queue, made.waiting, made.asked, made.open, made.holds = &copied, n.list(l.waiting), n.mapped(l.asked), n.mapped(l.open), n.mapped(l.holds)
			lines[l], copied.lines[i] = &made, &made
		}
		n.queues[key] = &copied
	}
	for _, c := range n.calls {
		if c.queue != nil {
			c.queue = n.queues[c.queue.key]
		}
		c.line, c.hold, c.sameOwner, c.prev, c.next = lines[c.line], n.copyOf(c.hold), n.callOf(c.sameOwner), n.callOf(c.prev), n.callOf(c.next)
	}
	for _, h := range n.holds {
		h.line, h.call, h.users = lines[h.line], n.callOf(h.call), n.list(h.users)
	}
	for i, c := range n.free.calls {
		n.free.calls[i] = n.callOf(c)
	}
	n.free.holds = n.mapped(n.free.holds)
	return &n
}

func (t *Turns) callOf(c *call) *call {
	if c == nil {
		return nil
	}
	return t.calls[int(uint32(c.id))]
}

func (t *Turns) copyOf(h *hold) *hold {
	if h == nil {
		return nil
	}
	return t.holds[int(uint32(h.id))]
}

func (t *Turns) mapped(all []*hold) []*hold {
	copied := make([]*hold, len(all))
	for i, h := range all {
		copied[i] = t.copyOf(h)
	}
	return copied
}

func (t *Turns) list(l calls) calls { return calls{t.callOf(l.first), t.callOf(l.last), l.n} }

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
