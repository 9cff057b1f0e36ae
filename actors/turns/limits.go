package turns

import (
	"cmp"
	"slices"
	"time"
)

// settle does what follows from an input about a queue: grants, then asks and cancels, then keeps or gives back.
func (t *Turns) settle(q *queue) {
	for {
		for i := 0; i < len(q.lines); i++ {
			t.serve(q.lines[i])
			t.judge(q.lines[i])
		}
		if !t.decide(q) {
			break
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

// ready gives the number of calls that the open holds of a line may serve.
func (l *line) ready(at time.Duration) (n int) {
	for _, h := range l.open {
		n = min(many, n+max(0, h.capacity(at)))
	}
	return n
}

// uncovered gives the first call of a line that no hold may serve, be it held or asked for; nil for none.
func (l *line) uncovered(at time.Duration) *call {
	covered := l.ready(at) + l.covered
	switch {
	case covered >= l.waiting.n:
		return nil
	case covered == l.waiting.n-1 && l.waiting.last.hold == nil:
		return l.waiting.last
	}
	c := l.waiting.first
	for ; covered > 0; covered-- {
		c = c.next
	}
	for c != nil && c.hold != nil {
		c = c.next
	}
	if c == nil { // those before have none
		for c = l.waiting.first; c.hold != nil; c = c.next {
		}
	}
	return c
}

// ask cancels holds that nobody needs, from the tail, and asks for those that are needed. The first call of all lines
// comes first.
func (t *Turns) ask(q *queue) {
	for _, l := range q.lines {
		for n := len(l.asked); n > 0 && l.waiting.n <= l.ready(t.now.At)+l.covered-l.asked[n-1].serves; n-- {
			t.cancel(l.asked[n-1])
		}
	}
	for q.asked < t.bounds.Waiting {
		var first *call
		for _, l := range q.lines {
			if c := l.uncovered(t.now.At); c != nil && (first == nil || c.before(first)) {
				first = c
			}
		}
		if first == nil {
			return
		}
		t.askFor(first.line, first, nil)
	}
}

// rest keeps the open holds of a line that nobody has, or gives them back.
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

// keep keeps a hold that nobody has, and looks out for contenders.
func (t *Turns) keep(h *hold) {
	sticky := h.line.want.Sticky
	if h.phase == held {
		if t.kept >= t.bounds.Kept || h.link == suspended || !t.now.Lease.Unbroken(h.epoch, h.term) {
			t.giveUp(h)
			return
		}
		h.phase, h.since = kept, t.now.At
		t.kept++
		if h.rivals == unknown {
			h.rivals = alone
			h.stopTime(t.now.At)
			t.emit(Output{Do: WatchContention, Hold: h.id})
		}
	}
	if t.now.At >= h.since+sticky {
		t.giveUp(h)
		return
	}
	t.arm(h, h.since+sticky)
}

// room is made of kept holds for what was refused with ReasonSessionFull.
type room struct {
	leaving int // kept holds that were given back for it
	waits   []waiter
}

// waiter is a hold that is asked for again, or whose transaction is tried again.
type waiter struct {
	hold HoldID
	txn  bool
}

// makeRoom gives the older half of the kept holds back, and reports whether there is anything to wait for.
func (t *Turns) makeRoom(w waiter) bool {
	var all []*hold
	for _, h := range t.holds {
		if h.phase == kept {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b *hold) int { return cmp.Compare(a.since, b.since) })
	for _, h := range all[:(len(all)+1)/2] {
		t.giveUp(h)
		h.forRoom = true
		t.room.leaving++
	}
	if t.room.leaving == 0 {
		return false
	}
	t.room.waits = append(t.room.waits, w)
	return true
}

// roomCame goes on with what waits for room, when the holds that left for it are gone.
func (t *Turns) roomCame() {
	if t.room.leaving--; t.room.leaving > 0 {
		return
	}
	for _, w := range t.room.waits {
		switch h := t.hold(w.hold); {
		case h == nil:
		case w.txn:
			t.emit(Output{Do: TxnAgain, Hold: h.id})
		case h.phase == awaitsRoom:
			h.phase = asked
			t.emitAsk(h)
		}
	}
	t.room.waits = nil
}
