package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/local.go. A create or a delete that shares a transaction with others is one of its
// own here: the model's server carries out one after the other in any case.

// local tells whether a node is known to be one of a session's own.
func (w *world) local(s int, id nodeID) bool {
	for i := range w.members(s) {
		if w.contenders[i].known.node == id {
			return true
		}
	}
	return false
}

// vanished mirrors session.vanished.
func (w *world) vanished(s int, id nodeID) {
	if id == 0 {
		return
	}
	for i := range w.members(s) {
		w.stirred(i, id)
	}
}

// handOver mirrors session.handOver.
func (w *world) handOver(i int) {
	r := &w.contenders[i].known
	if !w.fast(HandOver) || r.node == 0 || r.node.mode() != messages.Exclusive || r.unsure || !w.sessionOf(i).up ||
		!r.granted && !w.mistake(HandOverUnheld) {
		return
	}
	for j := range w.members(w.plan.Sessions[i]) {
		next := &w.contenders[j].known
		p := next.vigil
		looksAhead := p.second.live && p.second.node == r.node && w.mistake(HandOverToWhoLooksAhead)
		if (!p.live || p.node != r.node) && !looksAhead || next.unsure {
			continue
		}
		w.endVigil(j)
		w.tell(j, news{Kind: machine.PredecessorGone, Op: p.op, Head: true})
		return
	}
}
