package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/ahead.go, and of actors/vigil.go what the two have to do with each other.

// watchSecond is what a task does that reads and watches the one before a predecessor.
const watchSecond machine.Do = 200

// lookAhead mirrors session.lookAhead.
func (w *world) lookAhead(i int, predecessor nodeID) {
	r, s := &w.contenders[i].known, w.plan.Sessions[i]
	if r.second == 0 || w.plan.Modes[i] != messages.Exclusive || w.local(s, predecessor) ||
		!w.fast(ListingAhead) || !w.fast(OneListing) {
		return
	}
	second := r.second
	r.second = 0
	r.vigil.second = watcher{node: second, op: r.vigil.op, live: r.vigil.live}
	if w.local(s, second) && w.fast(LocalPredecessors) {
		return // of our own session, which hears of its end by itself
	}
	w.run(i, task{Do: watchSecond, op: r.vigil.op, node: second})
}

// secondRead takes the answer to the read of the one before the predecessor.
func (w *world) secondRead(t task) {
	i := int(t.contender)
	v := &w.contenders[i].known.vigil
	if v.second == (watcher{node: t.node, op: t.op, live: true}) && t.result == noNode {
		w.listAhead(i)
	}
}

// listAhead mirrors session.listAhead.
func (w *world) listAhead(i int) {
	v := &w.contenders[i].known.vigil
	v.second = watcher{}
	if w.mistake(TakeTheSecondForTheHead) {
		v.head = true
		return
	}
	if w.sessionOf(i).up {
		w.listFor(i, v.op, true, 0)
	}
}

// lookedAhead mirrors session.lookedAhead.
func (w *world) lookedAhead(i int, op uint8, seen *queue.Listing, result outcome) {
	r := &w.contenders[i].known
	if !r.vigil.live || r.vigil.op != op || result == unknown {
		return
	}
	place, shown := seen.Find(r.node.name())
	if !shown || named(place.Predecessor) != r.vigil.node {
		return // the predecessor is gone, and the event on its way
	}
	r.second = named(place.LookAhead)
	r.vigil.head = place.Head
	if !place.Head {
		w.lookAhead(i, named(place.Predecessor))
	}
}

// stirred mirrors session.stirred, for a node of a contender's vigil that was deleted.
func (w *world) stirred(i int, id nodeID) {
	r := &w.contenders[i].known
	switch v := r.vigil; {
	case v.second.live && v.second.node == id:
		w.listAhead(i)
	case v.live && v.node == id:
		r.departed = id
		w.endVigil(i)
		w.tell(i, news{Kind: machine.PredecessorGone, Op: v.op, Head: v.head})
	}
}

// endVigil mirrors session.endVigil.
func (w *world) endVigil(i int) { w.contenders[i].known.vigil = vigil{} }

// forgetAhead makes states equal that differ only in what was seen of the queue before.
func (w *world) forgetAhead(i int) {
	c := &w.contenders[i]
	if c.Holding() || c.stopped {
		c.known.second = 0 // who holds does not watch the queue again
	}
	if id := c.known.departed; id != 0 && w.find(id) < 0 && !w.shownIn(w.plan.Sessions[i], id) {
		c.known.departed = 0
	}
}

// shownIn tells whether a listing that is under way shows a node.
func (w *world) shownIn(s int, id nodeID) bool {
	for _, t := range w.sessions[s].tasks.all() {
		for _, shown := range t.listing.shown {
			if shown == id {
				return true
			}
		}
	}
	return false
}
