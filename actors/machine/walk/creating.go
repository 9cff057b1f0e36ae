package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/creating.go.

func (w *world) create(i int, o order) {
	c := &w.contenders[i]
	if w.takeUp(i, o.Op) {
		return
	}
	c.known.creates++
	w.voidVerifies(i)
	w.run(i, task{Do: machine.Create, op: o.Op, decided: o.Epoch})
}

// created mirrors session.created.
func (w *world) created(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	r.creates--
	n := w.judge(i, t)
	n.Op = t.op
	later := r.later
	r.later = fifo[uint8]{}
	gone := r.gone
	if gone || r.settleLater {
		r.settleLater = false
		w.settle(i)
	}
	if gone {
		return
	}
	w.tell(i, n)
	for _, op := range later.all() {
		w.verify(i, order{Op: op, Epoch: t.decided})
	}
}

// judge mirrors session.judge.
func (w *world) judge(i int, t task) news {
	c := &w.contenders[i]
	r := &c.known
	if t.result == unknown {
		if w.mistake(ForgetCreate) {
			return news{Kind: machine.NotCreated}
		}
		r.unsure = true
		return news{Kind: machine.Unknown}
	}
	if t.result == taken {
		return news{Kind: machine.Taken, Predecessor: t.node}
	}
	if r.node != 0 && r.node != t.node {
		r.unsure = true
		return news{Kind: machine.Unknown}
	}
	w.renew(w.plan.Sessions[i])
	r.place = t.place
	r.have(t.node)
	r.token = w.token(t.node, t.czxid, t.place)
	return news{
		Kind: machine.Created, Node: t.node, Token: r.token,
		Alone: t.alone, Predecessor: w.rightBefore(i),
	}
}

func (w *world) token(id nodeID, czxid, place uint8) uint8 {
	if w.mistake(TokenBySequence) {
		return (id.sequence() + 1) << placeBits
	}
	return czxid<<placeBits | place
}

// rightBefore mirrors session.rightBefore.
func (w *world) rightBefore(i int) nodeID {
	s, node := w.sessionOf(i), w.contenders[i].known.node
	if w.contest(i) {
		return 0
	}
	before := int(s.newest) - 1
	if before < 0 || w.contenders[before].known.node.sequence() < node.sequence() {
		s.newest = uint8(i + 1)
	}
	if before < 0 || before == i {
		return 0
	}
	if last := w.contenders[before].known.node; last != 0 && last.sequence()+1 == node.sequence() {
		if !node.waitsFor(last) && !w.mistake(ReaderBehindOwnReader) {
			return 0
		}
		return last
	}
	return 0
}

// withdraw mirrors session.withdraw.
func (w *world) withdraw(i int, o order) {
	s := w.sessionOf(i)
	if w.declines(i) {
		w.tell(i, news{Kind: machine.NotCreated, Op: o.Op})
		return
	}
	for _, p := range s.parked.all() {
		if int(p.contender) == i && p.order.Do == machine.Create {
			w.unpark(i)
			w.tell(i, news{Kind: machine.NotCreated, Op: o.Op})
			return
		}
	}
	if w.mistake(WithdrawAnyway) {
		w.tell(i, news{Kind: machine.NotCreated, Op: o.Op})
	}
}

// unpark mirrors without.
func (w *world) unpark(i int) {
	w.sessionOf(i).parked.keep(func(p parked) bool { return int(p.contender) != i })
}
