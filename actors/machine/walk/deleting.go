package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/deleting.go and actors/contenders.go.

func (w *world) remove(i int, o order) {
	if o.Do == machine.GiveBack && w.layDown(i) {
		w.tell(i, news{Kind: machine.Deleted, Op: o.Op})
		return
	}
	if w.contenders[i].known.node == o.Node {
		w.leave(i)
	}
	if o.Do == machine.GiveBack || w.mistake(HandOverUnheld) {
		w.handOver(i)
	}
	w.runDelete(task{Do: machine.Delete, contender: uint8(i), op: o.Op, node: o.Node, decided: o.Epoch})
}

// runDelete mirrors session.alone.
func (w *world) runDelete(t task) {
	if next := w.successor(int(t.contender)); next > 0 && !w.mistake(DeleteRegardless) {
		t.beside = w.contenders[next-1].known.node
	}
	w.run(int(t.contender), t)
}

// removed mirrors session.removed.
func (w *world) removed(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	if t.result == missing {
		w.disappeared(i, t.beside)
		w.runDelete(task{Do: machine.Delete, contender: t.contender, op: t.op, node: t.node, decided: t.decided})
		return
	}
	n := news{Op: t.op, Kind: machine.Deleted}
	switch {
	case t.result == unknown && !w.mistake(ForgetDelete):
		n.Kind = machine.Unknown
	case t.result == succeeded:
		w.renew(w.plan.Sessions[i])
		fallthrough
	default:
		if r.node == t.node {
			w.forgetNode(i)
		}
		w.vanished(w.plan.Sessions[i], t.node)
	}
	if !r.gone {
		w.tell(i, n)
	}
}

// terminated mirrors session.abandoned.
func (w *world) terminated(i int) {
	c := &w.contenders[i]
	c.terminated = false
	if !c.known.enlisted || c.known.gone || w.sessionOf(i).ending {
		return
	}
	c.known.gone = true
	w.declines(i)
	w.unpark(i)
	w.unwatch(i)
	if c.known.rest.resting {
		return // it goes later
	}
	if w.mistake(ForgetEnded) {
		return
	}
	w.settle(i)
}

// strike mirrors session.strike. Requests of the contender that are still under way can change nothing any
// more, and their answers are dropped.
func (w *world) strike(i int) {
	w.forgetNode(i)
	w.contenders[i].known = record{}
	w.sessionOf(i).tasks.keep(func(t task) bool { return int(t.contender) != i || t.Do == machine.List })
}

// forgetNode mirrors session.forgetNode.
func (w *world) forgetNode(i int) {
	s, r := w.sessionOf(i), &w.contenders[i].known
	if int(s.newest) == i+1 {
		s.newest = 0
	}
	w.unwatch(i)
	w.forgetRest(i)
	r.node, r.token, r.granted = 0, 0, false
}

// settle mirrors session.settle.
func (w *world) settle(i int) {
	s, r := w.sessionOf(i), &w.contenders[i].known
	if r.creates > 0 {
		r.settleLater = true
		return
	}
	if r.node == 0 && !r.unsure {
		if r.gone {
			w.strike(i)
		}
		return
	}
	if r.settling || !s.up {
		return
	}
	r.settling = true
	w.run(i, task{Do: machine.Settle, node: r.node, looked: r.node != 0 && !r.unsure})
}

// settled mirrors session.settled.
func (w *world) settled(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	r.settling = false
	if t.result == unknown {
		r.settleDue = true
		return
	}
	r.unsure = false
	gone, node := r.gone, r.node
	w.forgetNode(i)
	w.vanished(w.plan.Sessions[i], node)
	if gone {
		w.strike(i)
	}
}
