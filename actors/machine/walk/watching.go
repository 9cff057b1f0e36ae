package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/watches.go.

func (w *world) watchPredecessor(i int, o order) {
	if !w.mistake(RegisterLate) {
		w.contenders[i].known.predecessor = watcher{node: o.Node, op: o.Op, live: true}
	}
	if w.local(w.plan.Sessions[i], o.Node) {
		w.contenders[i].known.predecessor = watcher{node: o.Node, op: o.Op, live: true}
		w.tell(i, news{Kind: machine.Watched, Op: o.Op})
		return
	}
	w.run(i, task{Do: machine.Watch, op: o.Op, node: o.Node, decided: o.Epoch})
}

// watched mirrors session.watching.
func (w *world) watched(t task) {
	i := int(t.contender)
	r := &w.contenders[i].known
	if w.mistake(RegisterLate) {
		r.predecessor = watcher{node: t.node, op: t.op, live: true}
	}
	if r.predecessor != (watcher{node: t.node, op: t.op, live: true}) {
		return
	}
	n := news{Op: t.op}
	switch t.result {
	case succeeded:
		n.Kind = machine.Watched
	case noNode:
		n.Kind = machine.PredecessorGone
		r.predecessor = watcher{}
	case unknown:
		n.Kind = machine.Unknown
		r.predecessor = watcher{}
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
		if p := r.predecessor; p.live && p.node == id {
			r.predecessor = watcher{}
			w.tell(i, news{Kind: machine.PredecessorGone, Op: p.op})
		}
		if o := r.own; o.live && o.node == id {
			r.own = watcher{}
			w.tell(i, news{Kind: machine.NodeGone, Op: o.op})
		}
	}
}

// unwatch mirrors session.unwatch.
func (w *world) unwatch(i int) {
	w.contenders[i].known.predecessor = watcher{}
	w.contenders[i].known.own = watcher{}
}
