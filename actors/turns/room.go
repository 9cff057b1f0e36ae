package turns

import (
	"cmp"
	"slices"
)

// makeRoom gives the older half of the kept holds back, after ReasonSessionFull. It reports whether
// there may be room after roomPause.
func (t *Turns) makeRoom() bool {
	if t.now.At < t.making { // for another one, too
		return true
	}
	var all []*hold
	for _, h := range t.holds {
		if h.phase == kept && h.line.waiting.n == 0 { // otherwise it is about to be checked, or resumed
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b *hold) int { return cmp.Compare(a.since, b.since) })
	for _, h := range all[:(len(all)+1)/2] {
		t.giveUp(h)
	}
	if len(all) > 0 {
		t.making = t.now.At + roomPause
	}
	return len(all) > 0
}
