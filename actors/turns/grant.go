package turns

import "github.com/turnstile-locks/turnstile/messages"

func (t *Turns) serve(l *line) {
	for i := 0; i < len(l.open); {
		h := l.open[i]
		for l.waiting.n > 0 && t.mayGrant(h) {
			t.grant(h, l.waiting.first)
		}
		if h.capacity(t.now.At) <= 0 && !t.mayKeep(h) {
			t.spend(h, spent)
			continue
		}
		i++
	}
}

// mayGrant reports whether a hold may be granted to the next call of its line. What is missing may
// come later, with an input of its own.
func (t *Turns) mayGrant(h *hold) bool {
	q := h.line.queue
	switch {
	case h.capacity(t.now.At) <= 0, h.link == suspended, h.checking, h.txns > 0, !t.now.Lease.Unbroken(h.epoch, h.term):
		return false
	case h.grants > 0 && h.watch != watched:
		return false
	case q.key.Kind == Permits || h.beside != 0: // permits are counted below; a downgrade is within its writer
	case q.writers > 0 || q.readers > 0 && !h.line.want.reads(): // another hold's end is on its way
		return false
	}
	if h.grants > 0 && h.users.n == 0 && t.now.At-h.proved >= h.timeout/restsPerTimeout {
		h.checking = true
		t.emit(Output{Do: Check, Hold: h.id})
		return false
	}
	return true
}

// grant gives a hold to the first call of its line, which needs no other then.
func (t *Turns) grant(h *hold, c *call) {
	if c.hold != nil {
		t.unneeded(c.hold)
	}
	t.leaveLine(c)
	if h.grants == 0 {
		h.until = t.now.At + h.timeout/turnsPerTimeout
	}
	q, token := c.queue, h.next()
	if q.newest = max(q.newest, token); !c.want.reads() {
		q.newestWrite = token
	}
	h.grants++
	if h.rivals != alone {
		h.counted++
	}
	if h.phase == kept {
		h.phase = held
		t.kept--
		h.rested()
	}
	t.join(h, c, token)
}

func (t *Turns) join(h *hold, c *call, token messages.Token) {
	q := h.line.queue
	c.phase, c.hold, c.due = holds, h, 0
	t.waiting--
	if h.users.n == 0 {
		q.used++
	}
	h.users.add(c)
	if c.want.reads() {
		q.readers++
	} else {
		q.writers++
	}
	t.emit(Output{Do: Grant, Call: c.id, Hold: h.id, Token: token})
	if h.phase == revoked {
		t.tellRevoke(c)
	}
}

func (t *Turns) part(c *call) {
	h := c.hold
	q := h.line.queue
	h.users.remove(c)
	if c.want.reads() {
		q.readers--
	} else {
		q.writers--
	}
	if h.users.n == 0 {
		q.used--
		h.proved = t.now.At
	}
	t.freeCall(c)
}

func (t *Turns) tellRevoke(c *call) {
	c.phase, c.due = revoking, 0
	if c.want.Grace > 0 {
		c.due = t.now.At + c.want.Grace
		t.emit(Output{Do: SetTimer, Call: c.id, Deadline: c.due})
	}
	t.emit(Output{Do: Tell, Call: c.id, Hold: c.hold.id, State: messages.StateRevoking, Deadline: c.due})
}

// takeBack ends a call whose grace is over. With the last one the hold is given back, also during a
// transaction: that is refused with the node.
func (t *Turns) takeBack(c *call) {
	h := c.hold
	t.emit(Output{Do: Tell, Call: c.id, Hold: h.id, State: messages.StateReleased, Reason: messages.ReasonRevoked})
	if t.part(c); h.users.n == 0 {
		t.giveUp(h)
	}
}

func (t *Turns) leaveLine(c *call) {
	l := c.line
	l.waiting.remove(c)
	l.queue.waiting--
	if !c.want.reads() {
		l.queue.exclude--
	}
	if c.want.Try {
		l.queue.tries--
	}
	if c.bound == undecided {
		t.letIn(c)
	}
}

func (t *Turns) letIn(c *call) {
	c.bound = unbounded
	c.line.undecided--
}

func (t *Turns) refuse(c *call, why messages.Reason, detail string) {
	t.refuseFor(c, why, detail, nil)
}

func (t *Turns) refuseFor(c *call, why messages.Reason, detail string, of *hold) {
	o := Output{Do: Refuse, Call: c.id, Reason: why, Detail: detail}
	if of != nil {
		o.Hold = of.id
	}
	t.withdraw(c)
	t.emit(o)
}

func (t *Turns) withdraw(c *call) {
	switch c.phase {
	case awaitsOwner:
		c.queue.awaiting.remove(c)
	case waits:
		if c.hold != nil {
			t.unneeded(c.hold)
		}
		t.leaveLine(c)
	}
	t.freeCall(c)
}
