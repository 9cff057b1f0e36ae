package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/verifying.go.

// verify mirrors session.verify.
func (w *world) verify(i int, o order) {
	s, r := w.sessionOf(i), &w.contenders[i].known
	if r.laid && !w.mistake(VerifyWhatRests) {
		w.tell(i, news{Kind: machine.Found, Op: o.Op})
		return
	}
	if r.creates > 0 && !w.mistake(VerifyDoesNotWait) {
		r.later.push(o.Op)
		return
	}
	if !s.up {
		s.parked.push(parked{uint8(i), order{Do: machine.Verify, Op: o.Op, Epoch: o.Epoch}})
		return
	}
	if o.Op == staleOp && w.verifying(i) && !w.mistake(OldVerifyLast) {
		return // it was put off, and a newer one has come in between
	}
	w.voidVerifies(i)
	t := task{Do: machine.Verify, op: o.Op, decided: o.Epoch, newest: true}
	if r.node != 0 && !r.unsure {
		t.node, t.czxid, t.looked = r.node, r.token>>placeBits, true
	}
	w.run(i, t)
}

// verifying tells whether the verification that a request waits for is under way.
func (w *world) verifying(i int) bool {
	for _, t := range w.sessionOf(i).tasks.all() {
		if int(t.contender) == i && t.newest && t.op == currentOp {
			return true
		}
	}
	return false
}

// voidVerifies sets what c.verifies is compared with: answers of verifications that are under way are
// dropped.
func (w *world) voidVerifies(i int) {
	tasks := &w.sessionOf(i).tasks
	for t := range tasks.all() {
		if int(tasks.at[t].contender) == i {
			tasks.at[t].newest = false
		}
	}
}

// verified mirrors session.verified and adopted. A heartbeat was acknowledged unless the list told that
// there is no node.
func (w *world) verified(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	if t.result != unknown && t.looked {
		w.renew(w.plan.Sessions[i])
	}
	if !t.newest || r.gone {
		return
	}
	n := news{Op: t.op}
	switch {
	case t.result == unknown:
		n.Kind = machine.Unknown
	case t.result == noNode:
		r.unsure = false
		node := r.node
		w.forgetNode(i)
		w.vanished(w.plan.Sessions[i], node)
		n.Kind = machine.Found
	default:
		r.unsure = false
		r.have(t.node)
		r.token = w.token(t.node, t.czxid, r.place)
		w.rightBefore(i)
		n.Kind, n.Node, n.Token = machine.Found, r.node, r.token
	}
	w.tell(i, n)
}
