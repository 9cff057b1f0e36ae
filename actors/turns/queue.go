package turns

import "slices"

// lineOf gives the line of a request. A call with Alone has its own. One that tries joins none in
// which a hold is asked for: it would wait.
func (t *Turns) lineOf(q *queue, want *Want, alone bool) *line {
	if !alone {
		for _, l := range q.lines {
			if !l.closed && alike(l.want, want) && !(want.Try && len(l.asked) > 0) {
				return l
			}
		}
	}
	l := pop(&t.free.lines)
	*l = line{queue: q, want: want, most: 1, closed: alone, asked: l.asked[:0], open: l.open[:0], holds: l.holds[:0]}
	if q.key.Kind == Locks { // permits and contests are nobody else's
		l.most = max(1, want.Cohort)
	}
	q.lines = append(q.lines, l)
	return l
}

// forget drops lines and a queue that have neither calls nor holds.
func (t *Turns) forget(q *queue) {
	for i := len(q.lines) - 1; i >= 0; i-- {
		if l := q.lines[i]; l.waiting.n == 0 && len(l.holds) == 0 {
			q.lines = slices.Delete(q.lines, i, i+1)
			t.free.lines = append(t.free.lines, l)
		}
	}
	if q.calls == 0 && q.holds == 0 {
		delete(t.queues, q.key)
		t.free.queues = append(t.free.queues, q)
	}
}

func pop[T any](free *[]*T) *T {
	last := len(*free) - 1
	if last < 0 {
		return new(T)
	}
	one := (*free)[last]
	*free = (*free)[:last]
	return one
}

func (t *Turns) call(id CallID) *call {
	if slot := int(uint32(id)); slot < len(t.calls) && t.calls[slot].id == id {
		return t.calls[slot]
	}
	return nil
}

func (t *Turns) hold(id HoldID) *hold {
	if slot := int(uint32(id)); slot < len(t.holds) && t.holds[slot].id == id {
		return t.holds[slot]
	}
	return nil
}

func (t *Turns) freeCall(c *call) {
	if c.queue.calls--; !c.has() {
		t.waiting--
	}
	if c.sameOwner != c {
		c.leaveOwner()
	}
	c.id += 1 << 32
	c.phase = ended
	t.free.calls = append(t.free.calls, c)
}

func (h *hold) rested() {
	h.resting = false
	h.line.queue.resting--
}

func (t *Turns) freeHold(h *hold) {
	if h.resting {
		h.rested()
	}
	if h.cancelled {
		h.line.queue.leaving--
	}
	l := h.line
	l.holds = slices.DeleteFunc(l.holds, func(other *hold) bool { return other == h })
	l.queue.holds--
	h.id += 1 << 32
	h.phase = gone
	t.free.holds = append(t.free.holds, h)
}
