package coordinator

func (t transaction) answered(c *Coordinator, _ uint64, answer Answer) {
	a := answer.(*Committed)
	if c.successorMissing(t.exist, a.Failure) { // nothing was done: once more
		if len(t.changes) == 1 && t.changes[0].node != "" {
			c.alone(t.changes[0], t.batch)
		} else {
			c.commit(t.changes)
		}
		return
	}
	if t.batch {
		c.epoch.batch.underway--
	}
	if f := a.Failure; !f.none() && f.Outcome != Unknown && f.Outcome != Deferred && len(t.changes) > 1 {
		// Nothing was done, for the sake of one part that nobody has asked the others about.
		for _, ch := range t.changes {
			c.alone(ch, false)
		}
		c.flush()
		return
	}
	next := 0
	for _, ch := range t.changes {
		r := c.requests[ch.request]
		switch {
		case ch.node != "":
			c.removed(r, ch.op, ch.node, a.Failure)
		case !a.Failure.none():
			c.created(r, ch.op, Made{}, nil, a.Failure)
		default:
			r.queue.path.info.Exists = true
			c.noteEarly(r, a.Early[next])
			c.created(r, ch.op, a.Made[next], nil, Failure{})
			next++
		}
	}
	c.flush()
}
