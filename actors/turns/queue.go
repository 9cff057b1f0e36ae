package turns

import "slices"

// lineOf gives the line of a request. A call that stands alone has a line of its own. One that tries
// joins none in which a hold is asked for: it would wait with that.
func (q *queue) lineOf(want *Want, alone bool) *line {
	if !alone {
		for _, l := range q.lines {
			if !l.closed && alike(l.want, want) && !(want.Try && len(l.asked) > 0) {
				return l
			}
		}
	}
	l := &line{queue: q, want: want, most: 1, closed: alone}
	if q.key.Kind == Locks { // permits and contests are nobody else's
		l.most = max(1, want.Cohort)
	}
	q.lines = append(q.lines, l)
	return l
}

// forget drops lines and a queue that have neither calls nor holds.
func (t *Turns) forget(q *queue) {
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool { return l.waiting.n == 0 && l.holds == 0 })
	if q.calls == 0 && q.holds == 0 {
		delete(t.queues, q.key)
	}
}

// call gives the call of an ID; nil where it has ended.
func (t *Turns) call(id CallID) *call {
	if id == 0 || id.Slot() >= len(t.calls) || t.calls[id.Slot()].id != id {
		return nil
	}
	return t.calls[id.Slot()]
}

// hold gives the hold of an ID; nil where it has ended.
func (t *Turns) hold(id HoldID) *hold {
	if id == 0 || id.Slot() >= len(t.holds) || t.holds[id.Slot()].id != id {
		return nil
	}
	return t.holds[id.Slot()]
}

// newCall gives an empty call. Slots are used again, with another ID.
func (t *Turns) newCall() *call {
	t.number++
	if last := len(t.free.calls) - 1; last >= 0 {
		c := t.free.calls[last]
		t.free.calls = t.free.calls[:last]
		*c = call{id: c.id, number: t.number}
		c.sameOwner = c
		return c
	}
	c := &call{id: CallID(len(t.calls)) | 1<<32, number: t.number}
	c.sameOwner = c
	t.calls = append(t.calls, c)
	return c
}

// freeCall forgets a call.
func (t *Turns) freeCall(c *call) {
	c.queue.calls--
	if c.sameOwner != c {
		c.leaveOwner()
	}
	c.id += 1 << 32
	c.phase = ended
	t.free.calls = append(t.free.calls, c)
}

// newHold gives an empty hold.
func (t *Turns) newHold() *hold {
	if last := len(t.free.holds) - 1; last >= 0 {
		h := t.free.holds[last]
		t.free.holds = t.free.holds[:last]
		*h = hold{id: h.id}
		return h
	}
	h := &hold{id: HoldID(len(t.holds)) | 1<<32}
	t.holds = append(t.holds, h)
	return h
}

// rested notes that a hold which was kept serves again, or is gone.
func (h *hold) rested() {
	h.resting = false
	h.line.queue.resting--
}

// freeHold forgets a hold, of which nothing is heard any more.
func (t *Turns) freeHold(h *hold) {
	if h.resting {
		h.rested()
	}
	if h.cancelled {
		h.line.queue.leaving--
	}
	h.line.holds--
	h.line.queue.holds--
	h.id += 1 << 32
	h.phase = gone
	t.free.holds = append(t.free.holds, h)
}
