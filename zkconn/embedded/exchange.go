package embedded

import "slices"

// await puts a request behind those that wait.
func (c *conn) await() *exchange {
	x := &exchange{mute: c.mute}
	c.waiting = append(c.waiting, x)
	return x
}

// answered takes the answer to a request, and sends all those whose turn it is.
func (c *conn) answered(x *exchange, answer func() bool) {
	x.known, x.answer = true, answer
	busy, mute := c.busy, c.mute
	defer func() { c.busy, c.mute = busy, mute }()
	c.busy = true
	for len(c.waiting) > 0 && c.waiting[0].known && c.phase < parked {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mute = next.mute
		if !next.answer() {
			c.park() // what else it sends is not looked at
			c.out.finish()
		}
	}
	if !busy {
		c.out.poke()
	}
}

// direct means that a request to the leader is answered at once.
func (c *conn) direct() bool {
	r := c.r
	return len(c.waiting) == 0 && len(r.e.intake) == 0 && (r.link == nil || r.link.clear()) && r.e.quorate()
}

// order has the leader carry out a request. decide is called there; it gives the transaction, if
// any comes of the request, and the answer. order reports false when the connection is to be
// closed.
func (c *conn) order(d *decoder, decide func(d *decoder) (*txn, func([]result) bool)) (open bool) {
	if c.direct() {
		x, answer := decide(d)
		if x == nil {
			return answer(nil)
		}
		c.e.commitFrom(c.r, x, func(results []result) { open = answer(results) })
		return open
	}
	body, waits := slices.Clone(d.buf), c.await()
	c.r.toLeader(func() {
		c.e.enter(func() {
			x, answer := decide(&decoder{buf: body})
			if x == nil {
				c.r.fromLeader(func() { c.answered(waits, func() bool { return answer(nil) }) })
				return
			}
			c.e.commitFrom(c.r, x, func(results []result) {
				c.answered(waits, func() bool { return answer(results) })
			})
		})
	})
	return true
}
