package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/watches.go and actors/vigil.go.

func (w *world) watchPredecessor(i int, o order) {
	r := &w.contenders[i].known
	w.endVigil(i)
	local := w.local(w.plan.Sessions[i], o.Node) && w.fast(LocalPredecessors)
	if local || !w.mistake(RegisterLate) {
		r.vigil.watcher = watcher{node: o.Node, op: o.Op, live: true}
	}
	if local {
		w.tell(i, news{Kind: machine.Watched, Op: o.Op})
	} else {
		w.run(i, task{Do: machine.Watch, op: o.Op, node: o.Node, decided: o.Epoch})
	}
	if !w.contest(i) {
		w.lookAhead(i, o.Node)
	}
}

// watched mirrors session.watching.
func (w *world) watched(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	if w.mistake(RegisterLate) {
		r.vigil.watcher = watcher{node: t.node, op: t.op, live: true}
	}
	if r.vigil.watcher != (watcher{node: t.node, op: t.op, live: true}) {
		return
	}
	n := news{Op: t.op}
	switch t.result {
	case succeeded:
		n.Kind = machine.Watched
	case noNode:
		n.Kind = machine.PredecessorGone
		r.departed = t.node
		w.endVigil(i)
	case unknown:
		n.Kind = machine.Unknown
		w.endVigil(i)
	}
	w.tell(i, n)
}

func (w *world) watchOwn(i int, o order) {
	r := &w.contenders[i].known
	r.granted = true
	r.own = watcher{node: o.Node, op: o.Op, live: true}
	w.run(i, task{Do: machine.WatchOwn, op: o.Op, node: o.Node, decided: o.Epoch})
}

// ownRead mirrors session.ownRead.
func (w *world) ownRead(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	if r.own.node != t.node || r.gone {
		return
	}
	n := news{Op: t.op}
	switch t.result {
	case succeeded:
		n.Kind = machine.OwnRead
	case noNode:
		n.Kind = machine.NodeGone
		w.vanished(w.plan.Sessions[i], t.node)
	case unknown:
		n.Kind = machine.Unknown
	}
	w.tell(i, n)
}

// nodeDeleted mirrors session.nodeEvent.
func (w *world) nodeDeleted(s int, id nodeID) {
	for i := range w.members(s) {
		r := &w.contenders[i].known
		w.stirred(i, id)
		if o := r.own; o.live && o.node == id {
			r.own = watcher{}
			w.tell(i, news{Kind: machine.NodeGone, Op: o.op})
		}
	}
}

// unwatch mirrors session.unwatch.
func (w *world) unwatch(i int) {
	w.endVigil(i)
	w.contenders[i].known.own = watcher{}
}
