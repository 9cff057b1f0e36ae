package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// settle does what follows from an input about a queue: grants, then asks and cancels, then keeps
// or gives back.
func (t *Turns) settle(q *queue) {
	if q.awaiting.n > 0 { // they may have come before those in line
		t.decide(q)
	}
	for again := true; again; again = q.awaiting.n > 0 && t.decide(q) {
		for i := 0; i < len(q.lines); i++ {
			l := q.lines[i]
			if t.serve(l); l.undecided > 0 {
				t.judge(l)
			}
		}
	}
	t.ask(q)
	for _, l := range q.lines {
		t.rest(l)
	}
	for _, h := range t.over {
		t.emit(Output{Do: Release, Hold: h.id})
	}
	t.over = t.over[:0]
	t.forget(q)
}

// uncovered gives the first call of a line that no hold, held or asked for, may serve; nil for
// none.
func (l *line) uncovered(at time.Duration) *call {
	covered := l.ready(at) + l.covered
	if covered >= l.waiting.n {
		return nil
	}
	c := l.waiting.last
	if covered < l.waiting.n-1 || c.hold != nil {
		for c = l.waiting.first; covered > 0; covered-- {
			c = c.next
		}
		for c != nil && c.hold != nil {
			c = c.next
		}
		if c == nil { // those before have none
			for c = l.waiting.first; c.hold != nil; c = c.next {
			}
		}
	}
	return c
}

// ask cancels surplus holds, from the tail, and asks for missing ones, for the first call of all
// lines first. One that may be refused for what is before it asks when this client's own holds that
// were kept or cancelled, which would be, are gone. Those behind it wait as well: else it might never
// ask, while they come and give up.
func (t *Turns) ask(q *queue) {
	for _, l := range q.lines {
		for n := len(l.asked); n > 0 && l.waiting.n <= l.ready(t.now.At)+l.covered-l.asked[n-1].serves; n-- {
			t.cancel(l.asked[n-1])
		}
	}
	if q.asked+q.leaving <= t.bounds.Waiting-t.bounds.Waiting/askedTogether {
		q.full = false
	}
	for !q.full && q.asked+q.leaving < t.bounds.Waiting {
		var first *call
		for _, l := range q.lines {
			if c := l.uncovered(t.now.At); c != nil && (first == nil || c.before(first)) {
				first = c
			}
		}
		if first == nil || (first.want.Try || first.bound == undecided) && q.resting+q.leaving > 0 {
			return
		}
		t.askFor(first.line, first, 0)
	}
	q.full = true
	if q.tries > 0 {
		t.refuseTries(q)
	}
}

func (t *Turns) refuseTries(q *queue) {
	if !q.stands() {
		return
	}
	for _, l := range q.lines {
		for c := l.uncovered(t.now.At); c != nil; {
			next := c.next
			if c.want.Try && c.hold == nil {
				t.refuse(c, messages.ReasonNotAcquired, "")
			}
			c = next
		}
	}
}

func (t *Turns) rest(l *line) {
	for i := len(l.open) - 1; i >= 0; i-- {
		h := l.open[i]
		serves := l.waiting.n > 0 && h.capacity(t.now.At) > 0
		switch {
		case h.users.n > 0:
			if serves && l.most > 1 && h.rivals != alone {
				t.arm(h, h.until) // then the next hold is asked for
			}
		case h.txns > 0, serves:
		case l.queue.waiting == 0 && t.mayKeep(h):
			t.keep(h)
		default:
			t.giveUp(h)
		}
	}
}

func (t *Turns) keep(h *hold) {
	sticky := h.line.want.Sticky
	if h.phase == held {
		if t.kept >= t.bounds.Kept || h.link == suspended || !t.now.Lease.Unbroken(h.epoch, h.term) {
			t.giveUp(h)
			return
		}
		h.phase, h.since, h.resting = kept, t.now.At, true
		h.line.queue.resting++
		t.kept++
		if h.rivals == unknown {
			h.rivals = alone
			h.left = h.until - t.now.At // which stands still from now on
			t.emit(Output{Do: WatchContention, Hold: h.id})
		}
	}
	if t.now.At >= h.since+sticky {
		t.giveUp(h)
		return
	}
	t.arm(h, h.since+sticky)
}
