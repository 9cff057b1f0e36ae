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

// have mirrors session.have.
func (r *record) have(node nodeID) {
	if r.node != node {
		r.leaves, r.next = false, 0
	}
	r.node = node
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
	if !w.fast(HandOver) || r.next == 0 || r.unsure || !w.sessionOf(i).up {
		return
	}
	j := int(r.next) - 1
	op := w.contenders[j].known.vigil.op
	w.endVigil(j)
	giver, next := &w.contenders[i], &w.contenders[j]
	next.handed = next.broken && (!giver.broken || giver.handed)
	w.tell(j, news{Kind: machine.PredecessorGone, Op: op, Head: true})
}

// leave mirrors session.leave.
func (w *world) leave(i int) {
	r := &w.contenders[i].known
	if r.leaves {
		return
	}
	r.leaves = true
	if r.node == 0 || r.node.mode() != messages.Exclusive || !r.granted && !w.mistake(HandOverUnheld) {
		return
	}
	for j := range w.members(w.plan.Sessions[i]) {
		next := &w.contenders[j].known
		p := next.vigil
		looksAhead := p.second.live && p.second.node == r.node && w.mistake(HandOverToWhoLooksAhead)
		if (p.live && p.node == r.node || looksAhead) && !next.unsure {
			r.next = uint8(j + 1)
			return
		}
	}
}

// successor mirrors contender.successor: 0 for nobody, or who it is, counted from 1.
func (w *world) successor(i int) uint8 {
	r := &w.contenders[i].known
	for r.next != 0 && w.contenders[r.next-1].known.leaves {
		r.next = w.contenders[r.next-1].known.next
	}
	if r.next == 0 || w.contenders[r.next-1].known.gone || w.contenders[r.next-1].known.node == 0 {
		return 0
	}
	return r.next
}

// disappeared mirrors session.disappeared.
func (w *world) disappeared(i int, node nodeID) {
	for j := range w.members(w.plan.Sessions[i]) {
		if c := &w.contenders[j]; c.known.node == node && !c.known.gone && !c.known.leaves {
			c.known.leaves = true
			w.tell(j, news{Kind: machine.NodeGone})
			w.vanished(w.plan.Sessions[i], node)
		}
	}
}
