package turns

import (
	"cmp"
	"slices"
)

// makeRoom gives the older half of the kept holds back, and reports whether there is anything to
// wait for.
func (t *Turns) makeRoom(w waiter) bool {
	var all []*hold
	for _, h := range t.holds {
		if h.phase == kept && h.line.waiting.n == 0 { // else it is about to be checked, or resumed
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
