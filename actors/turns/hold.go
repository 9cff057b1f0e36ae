package turns

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// next gives the token of the next grant. Readers have the hold's own.
func (h *hold) next() messages.Token {
	if h.line.want.reads() {
		return h.token
	}
	return h.token + messages.Token(h.grants)
}

func (h *hold) overtaken() bool {
	q := h.line.queue
	switch {
	case q.key.Kind == Permits:
		return false
	case h.line.want.reads():
		return h.next() < q.newestWrite
	default:
		return h.next() <= q.newest
	}
}

func (h *hold) capacity(at time.Duration) int {
	l := h.line
	switch {
	case h.phase != held && h.phase != kept, h.overtaken(), l.closed && l.waiting.n == 0:
		return 0
	case h.watch == unreadable && h.grants > 0:
		return 0
	case h.rivals != alone && l.most > 1 && h.grants > 0 && at >= h.until:
		return 0
	}
	n := l.most - h.counted
	if h.rivals == alone {
		n = many
	}
	if !l.want.reads() && h.grants > 0 {
		n = min(n, h.places+1-h.grants)
	}
	return n
}

func (l *line) ready(at time.Duration) (n int) {
	for _, h := range l.open {
		n = min(many, n+max(0, h.capacity(at)))
	}
	return n
}

func (t *Turns) mayKeep(h *hold) bool {
	l := h.line
	return l.want.Sticky > 0 && l.want.Mode == messages.Exclusive && !l.closed && !t.ending &&
		(h.phase == held || h.phase == kept) && h.rivals != contended && h.watch != unreadable && h.grants <= h.places &&
		!h.overtaken()
}

func (t *Turns) askFor(l *line, c *call, beside HoldID) {
	h := pop(&t.free.holds)
	if h.id == 0 {
		h.id = HoldID(len(t.holds)) | 1<<32
		t.holds = append(t.holds, h)
	}
	*h = hold{id: h.id, line: l, call: c, beside: beside, before: -1, serves: l.most}
	if c.want.Try { // it may be refused where others would wait
		h.try, h.serves = true, 1
	}
	c.hold = h
	l.holds = append(l.holds, h)
	l.queue.holds++
	l.asked = append(l.asked, h)
	l.covered += h.serves
	if beside == 0 {
		l.queue.asked++
	}
	t.emitAsk(h)
}

func (t *Turns) emitAsk(h *hold) {
	t.asked++
	l := h.line
	h.shared = (!l.closed || l.waiting.n > 1) && (l.most > 1 || l.want.Sticky > 0)
	o := Output{Do: Ask, Hold: h.id, Beside: h.beside, Try: h.try, Shared: h.shared}
	if h.call != nil {
		o.Call = h.call.id
	} else { // its call has ended
		o.Call = l.waiting.first.id
	}
	t.emit(o)
}

func (t *Turns) unask(h *hold) {
	l := h.line
	if h.phase == asked {
		t.asked--
	}
	if h.call != nil {
		h.call.hold, h.call = nil, nil
	}
	l.asked = slices.DeleteFunc(l.asked, func(other *hold) bool { return other == h })
	l.covered -= h.serves
	if h.beside == 0 {
		l.queue.asked--
	}
}

// passOn has a hold be asked for the next call of its line without one; with the same owner and
// caller if its node names them: otherwise searches would see the earlier caller wait. False for
// none.
func (h *hold) passOn() bool {
	was, next := h.call.want, h.call.next
	for next != nil && (next.hold != nil || !h.shared && (next.want.Owner != was.Owner || next.want.Caller != was.Caller)) {
		next = next.next
	}
	h.call.hold, h.call = nil, next
	if next != nil {
		next.hold = h
	}
	return next != nil
}

// unneeded passes an asked hold on to the next call of its line without one, or cancels it; with a
// cohort only if it is one too many (ask).
func (t *Turns) unneeded(h *hold) {
	if h.try || !h.passOn() && h.line.most == 1 {
		t.cancel(h)
	}
}

func (t *Turns) cancel(h *hold) {
	t.unask(h)
	if h.phase == awaitsRoom { // its lock actor has ended
		t.freeHold(h)
		return
	}
	if h.phase = leaving; h.beside == 0 { // its node counts until it is gone
		h.cancelled = true
		h.line.queue.leaving++
	}
	t.emit(Output{Do: Cancel, Hold: h.id})
}

// spend notes that a hold serves no further call. It is given back behind what is asked for, when
// free.
func (t *Turns) spend(h *hold, as holdPhase) {
	if h.phase == held || h.phase == kept {
		t.close(h)
	}
	if h.phase == held || h.phase == kept || h.phase == spent {
		h.phase = as
	}
	t.vacated(h)
}

func (t *Turns) close(h *hold) {
	if h.phase == kept {
		t.kept--
	}
	l := h.line
	l.open = slices.DeleteFunc(l.open, func(other *hold) bool { return other == h })
}

func (t *Turns) vacated(h *hold) {
	if (h.phase == spent || h.phase == revoked) && h.users.n == 0 && h.txns == 0 {
		t.giveUp(h)
	}
}

func (t *Turns) giveUp(h *hold) {
	if h.phase == held || h.phase == kept {
		t.close(h)
	}
	h.phase = leaving
	t.over = append(t.over, h)
}

// arm sets the timer of a hold, unless an earlier one runs: that looks again.
func (t *Turns) arm(h *hold, at time.Duration) {
	if h.due == 0 || h.due > at {
		h.due = at
		t.emit(Output{Do: SetTimer, Hold: h.id, Deadline: at})
	}
}
