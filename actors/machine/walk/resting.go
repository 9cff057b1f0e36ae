package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here mirrors actors/resting.go and actors/reusing.go.

// watchArrivals is what a task does that reads the queue and has the servers tell when it changes;
// checkRest, what one does that finds out whether a node exists that is to be reused.
const (
	watchArrivals machine.Do = 201
	checkRest     machine.Do = 202
)

// placeBits: a token is the transaction of a node, and behind that a place. There are enough of both.
const (
	placeBits = 2
	maxPlace  = 1<<placeBits - 1
)

// rest mirrors the type of actors/resting.go; it is part of the record of its contender. Its timer is a move that is
// there while it rests.
type rest struct {
	has     bool
	resting bool // nobody holds
	watched bool // we shall hear of who comes
	wanted  bool // somebody has come
	// next is who is to reuse the node, counted from 1, and op its create, while it is checked.
	next, op uint8
}

// layDown mirrors session.layDown.
func (w *world) layDown(i int) bool {
	s, r := w.sessionOf(i), &w.contenders[i].known
	wanted := r.rest.has && r.rest.wanted && !w.mistake(RestThoughWanted)
	if r.mates && !w.mistake(LayDownWithMates) {
		return false // the places behind its own are taken
	}
	if !w.plan.Sticky[i] || !r.granted || r.unsure || !s.up || r.token&maxPlace == maxPlace || wanted || w.waitedFor(i) ||
		s.resting != 0 {
		return false
	}
	r.rest.has, r.rest.resting = true, true
	s.resting = uint8(i + 1)
	r.granted, r.laid = false, true
	r.own = watcher{}
	w.voidVerifies(i)
	if !r.rest.watched {
		r.rest.watched = true
		w.run(i, task{Do: watchArrivals, node: r.node})
	}
	return true
}

// waitedFor mirrors session.waitedFor.
func (w *world) waitedFor(i int) bool {
	for j := range w.members(w.plan.Sessions[i]) {
		if v := w.contenders[j].known.vigil; v.watches(w.contenders[i].known.node) {
			return true
		}
	}
	return false
}

func (v vigil) watches(id nodeID) bool {
	return v.live && v.node == id || v.second.live && v.second.node == id
}

// arrivalsRead takes the answer to the read of the queue.
func (w *world) arrivalsRead(t task) {
	alone := t.result == succeeded
	for _, id := range t.listing.shown {
		alone = alone && (id == 0 || id == t.node)
	}
	shown := false
	for _, id := range t.listing.shown {
		shown = shown || id == t.node
	}
	if !(alone && shown) && !w.mistake(WatchWithoutLooking) {
		w.arrived(int(t.contender))
	}
}

// arrived mirrors session.arrived, for who comes: the watch on the node itself is left out.
func (w *world) arrived(i int) {
	r := &w.contenders[i].known.rest
	if !r.has {
		return
	}
	r.wanted = true
	if r.resting && r.next == 0 && !w.mistake(RestOn) {
		w.endRest(i)
	}
}

// endRest mirrors session.endRest.
func (w *world) endRest(i int) {
	r := &w.contenders[i].known.rest
	next, op := r.next, r.op
	r.next, r.op = 0, 0
	if !w.mistake(LendWhatGoes) {
		w.forgetRest(i)
	}
	if !w.mistake(ForgetTheRested) {
		w.settle(i)
	}
	if next != 0 {
		w.create(int(next)-1, order{Op: op})
	}
}

// forgetRest mirrors session.forgetRest. The answer to the read of the queue would change nothing.
func (w *world) forgetRest(i int) {
	s, r := w.sessionOf(i), &w.contenders[i].known
	if int(s.resting) == i+1 {
		s.resting = 0
	}
	r.rest = rest{}
	s.tasks.keep(func(t task) bool { return t.Do != watchArrivals || int(t.contender) != i })
}

// takeUp mirrors session.takeUp.
func (w *world) takeUp(i int, op uint8) bool {
	s := w.sessionOf(i)
	at := int(s.resting) - 1
	if at < 0 || w.contenders[at].known.rest.next != 0 || w.contest(i) {
		return false
	}
	old := &w.contenders[at].known
	if w.plan.Modes[at] != w.plan.Modes[i] || !s.up {
		w.endRest(at)
		return false
	}
	old.rest.next, old.rest.op = uint8(i+1), op
	if w.mistake(ReuseUnchecked) {
		w.reuse(at)
		return true
	}
	w.run(i, task{Do: checkRest, op: op, node: old.node})
	return true
}

// checked mirrors session.checked.
func (w *world) checked(t task) {
	i, at := int(t.contender), int(w.sessionOf(int(t.contender)).resting)-1
	if t.result != unknown {
		w.renew(w.plan.Sessions[i])
	}
	switch {
	case at < 0 || int(w.contenders[at].known.rest.next) != i+1:
		if at >= 0 && w.contenders[at].known.node == t.node && t.result == noNode {
			w.restGone(at)
		}
	case t.result == succeeded:
		w.reuse(at)
	default:
		w.endRest(at)
	}
}

// reuse mirrors session.reuse, for the contender that has a node that rests.
func (w *world) reuse(at int) {
	old := &w.contenders[at]
	i := int(old.known.rest.next) - 1
	s, c, op := w.sessionOf(i), &w.contenders[i], old.known.rest.op
	token := old.known.token
	if !w.mistake(SameTokenTwice) {
		token++
	}
	s.resting = 0
	c.guid = old.guid
	c.known.place = token & maxPlace
	c.known.rest, old.known.rest = old.known.rest, rest{}
	c.known.rest.resting, c.known.rest.next, c.known.rest.op = false, 0, 0
	for t := range s.tasks.all() {
		if u := &s.tasks.at[t]; u.Do == watchArrivals && int(u.contender) == at {
			u.contender = uint8(i)
		}
	}
	c.known.mates = old.known.mates
	c.known.have(old.known.node)
	c.known.token = token
	if int(s.newest) == at+1 {
		s.newest = uint8(i + 1)
	}
	old.known.node, old.known.token = 0, 0
	if old.known.gone {
		w.strike(at)
	}
	if w.telling {
		w.note("%s takes up %v", contenderName(i), c.known.node)
	}
	w.tell(i, news{Kind: machine.Created, Op: op, Node: c.known.node, Token: token, Alone: true})
}

// declines mirrors session.declines. The timer is a move.
func (w *world) declines(i int) bool {
	at := int(w.sessionOf(i).resting) - 1
	if at < 0 || int(w.contenders[at].known.rest.next) != i+1 {
		return false
	}
	r := &w.contenders[at].known.rest
	r.next, r.op = 0, 0
	if r.wanted {
		w.endRest(at)
	}
	return true
}

// foundBefore tells whether the servers have found a node that a contender is to reuse, and the
// session does not know yet: what an operator does with it now is as if the contender held.
func (w *world) foundBefore(i int, id nodeID) bool {
	for _, t := range w.sessionOf(i).tasks.all() {
		if t.Do == checkRest && int(t.contender) == i && t.node == id && t.applied && t.result == succeeded {
			return true
		}
	}
	return false
}

// wakeAll mirrors session.wakeAll.
func (w *world) wakeAll(s int) {
	if w.mistake(RestThroughCuts) {
		return
	}
	for i := range w.members(s) {
		w.contenders[i].known.rest.next = 0
		w.forgetRest(i)
	}
}

// rests tells which contender of a session has a node that rests, -1 for none.
func (w *world) rests(id nodeID) int {
	for i := range w.plan.Sessions {
		if r := &w.contenders[i].known; r.node == id && r.rest.has && r.rest.resting {
			return i
		}
	}
	return -1
}

// restGone mirrors session.restGone.
func (w *world) restGone(i int) {
	if w.contenders[i].known.rest.resting {
		w.endRest(i)
	}
}

// childrenChanged is session.nodeEvent, for the queue as a whole.
func (w *world) childrenChanged(s int) {
	for i := range w.members(s) {
		if w.contenders[i].known.rest.watched {
			w.arrived(i)
		}
	}
}
