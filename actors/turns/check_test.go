package turns

import (
	"fmt"
	"slices"
)

func (t *Turns) check() error {
	waiting, lockActors := 0, 0
	for _, c := range t.calls {
		if c.phase != ended && !c.has() {
			waiting++
		}
	}
	for _, h := range t.holds {
		if h.phase == asked {
			lockActors++
		}
	}
	if waiting != t.waiting || lockActors != t.asked {
		return fmt.Errorf("%d calls wait, and %d are counted; %d lock actors queue, and %d are counted", waiting, t.waiting, lockActors, t.asked)
	}
	count := 0
	for _, h := range t.holds {
		if h.phase == kept {
			count++
		}
		if h.resting && h.phase != kept && h.phase != leaving && h.phase != spent && h.phase != revoked {
			return fmt.Errorf("a hold in phase %d rests", h.phase)
		}
	}
	if count != t.kept || len(t.over) > 0 {
		return fmt.Errorf("%d holds are kept, and %d are counted; %d are to be given back", count, t.kept, len(t.over))
	}
	for _, q := range t.queues {
		if err := t.checkQueue(q); err != nil {
			return fmt.Errorf("%v: %w", q.key, err)
		}
	}
	return nil
}

func (t *Turns) checkQueue(q *queue) error {
	var calls, waiting, exclude, readers, writers int
	for _, c := range t.calls {
		if c.phase == ended || c.queue != q {
			continue
		}
		calls++
		switch {
		case c.phase == placing:
			return fmt.Errorf("call %d is being placed", c.number)
		case c.phase == waits:
			waiting++
			if !c.want.reads() {
				exclude++
			}
			if c.hold != nil && (c.hold.call != c || c.hold.phase != asked && c.hold.phase != awaitsRoom) {
				return fmt.Errorf("call %d waits for a hold that is not asked for it", c.number)
			}
		case c.has() && c.want.reads():
			readers++
		case c.has():
			writers++
		}
	}
	if calls != q.calls || waiting != q.waiting || exclude != q.exclude || readers != q.readers || writers != q.writers {
		return fmt.Errorf("calls are counted wrong")
	}
	if calls+q.holds == 0 {
		return fmt.Errorf("it has neither calls nor holds")
	}
	holds, askedFor := 0, 0
	for _, l := range q.lines {
		holds += len(l.holds)
		if err := t.checkLine(l); err != nil {
			return err
		}
		for _, h := range l.asked {
			if h.beside == 0 {
				askedFor++
			}
		}
	}
	if holds != q.holds || askedFor != q.asked {
		return fmt.Errorf("holds are counted wrong")
	}
	return nil
}

// mayAsk reports whether the first call that no hold may serve need not wait for holds of this client to go.
func (t *Turns) mayAsk(q *queue) bool {
	var first *call
	for _, l := range q.lines {
		if c := l.uncovered(t.now.At); c != nil && (first == nil || c.before(first)) {
			first = c
		}
	}
	return first != nil && (q.resting+q.leaving == 0 || !first.want.Try && first.bound != undecided)
}

func (t *Turns) checkLine(l *line) error {
	covered := 0
	for _, h := range l.asked {
		if covered += h.serves; h.phase != asked && h.phase != awaitsRoom {
			return fmt.Errorf("a hold is asked for in phase %d", h.phase)
		}
	}
	at := t.now.At
	switch missing := l.waiting.n - covered - l.ready(at); {
	case covered != l.covered:
		return fmt.Errorf("the calls that are covered are counted wrong")
	case missing > 0 && !l.queue.full && t.mayAsk(l.queue):
		return fmt.Errorf("no hold is asked for for %d calls", missing)
	case len(l.asked) > 0 && missing <= -l.asked[len(l.asked)-1].serves:
		return fmt.Errorf("more holds wait than calls that they may serve")
	}
	for _, h := range t.holds {
		if h.phase == gone || h.line != l {
			continue
		}
		if open := slices.Contains(l.open, h); open != (h.phase == held || h.phase == kept) {
			return fmt.Errorf("a hold in phase %d is open: %v", h.phase, open)
		}
		idle := h.users.n == 0
		switch {
		case idle && h.phase == held && h.txns == 0 && l.waiting.n == 0:
			return fmt.Errorf("a hold that nobody uses is not given back")
		case idle && (h.phase == spent || h.phase == revoked) && h.txns == 0:
			return fmt.Errorf("a hold that is spent is not given back")
		case h.phase == kept && (!idle || l.waiting.n == 0 && (!t.mayKeep(h) || l.queue.waiting > 0 || h.due == 0)):
			return fmt.Errorf("a hold is kept that may not be")
		case !idle && h.phase == leaving:
			return fmt.Errorf("a hold leaves that calls have")
		}
		first := h.users.first
		for c := first; c != nil; c = c.next {
			if c != first && !(c.want.reads() && l.most > 1) && !sameOwners(c, first) {
				return fmt.Errorf("calls of two owners have one hold")
			}
		}
	}
	return nil
}

func sameOwners(a, b *call) bool {
	for o := a.sameOwner; o != a; o = o.sameOwner {
		if o == b {
			return true
		}
	}
	return a == b
}
