package turns

import "github.com/turnstile-locks/turnstile/messages"

// decider gives the call of the same owner that decides about one: a reader about one that reads,
// else one that excludes before one that reads, and one that holds before one that waits; nil for
// none.
func (c *call) decider() (found *call) {
	best := 0
	for o := c.sameOwner; o != c; o = o.sameOwner {
		rank := 2
		switch {
		case o.phase == awaitsOwner:
			continue
		case !o.want.reads():
			rank = 4
		case c.want.reads():
			rank = 6
		}
		if o.has() {
			rank++
		}
		if rank > best {
			found, best = o, rank
		}
	}
	return found
}

func (t *Turns) place(c *call) bool {
	other, reads := c.decider(), c.want.reads()
	switch {
	case other == nil:
		t.lineUp(c)
	case reads && other.want.Mode == messages.Write && other.has():
		t.askBeside(c, other.hold)
	case other.want.reads() && !reads:
		t.refuseFor(c, messages.ReasonUpgrade, "", other.hold)
	case reads && other.want.Mode == messages.Write:
		return false
	case !c.want.Reentry || reads != other.want.reads():
		t.refuseFor(c, messages.ReasonReentry, "", other.hold)
	case !other.has() || other.hold.link == suspended || !t.now.Lease.Unbroken(other.hold.epoch, other.hold.term):
		return false
	default:
		t.share(c, other.hold)
	}
	return true
}

func (t *Turns) decide(q *queue) (any bool) {
	for c := q.awaiting.first; c != nil; {
		next := c.next
		q.awaiting.remove(c)
		c.phase = placing
		if t.place(c) {
			any = true
		} else {
			t.await(c)
		}
		c = next
	}
	return any
}

func (t *Turns) await(c *call) {
	c.phase = awaitsOwner
	c.queue.awaiting.add(c)
}

func (t *Turns) share(c *call, h *hold) {
	token := h.next()
	if !c.want.reads() {
		token--
	}
	t.join(h, c, token)
}

func (t *Turns) askBeside(c *call, writer *hold) {
	t.enter(c, t.lineOf(c.queue, c.want, true))
	t.askFor(c.line, c, writer.id)
}
