package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/session.go, actors/connection.go and actors/heartbeat.go.

// take mirrors session.take, for the order that a lock actor has sent.
func (w *world) take(i int, o order) {
	s, c := w.sessionOf(i), &w.contenders[i]
	if s.ending {
		w.tell(i, news{Kind: machine.Closed})
		return
	}
	if o.Epoch != 0 && o.Epoch != s.epoch && !w.mistake(OldOrders) {
		return
	}
	if !c.known.enlisted {
		c.known = record{enlisted: true}
		c.terminated = c.stopped // who watches the dead is told at once
	}
	if c.known.gone {
		return
	}
	switch o.Do {
	case machine.Withdraw:
		w.withdraw(i, o)
	case machine.Settle:
		w.settle(i)
	default:
		if !s.up {
			s.parked.push(parked{uint8(i), o})
			return
		}
		w.carryOut(i, o)
	}
}

// carryOut mirrors session.carryOut.
func (w *world) carryOut(i int, o order) {
	switch o.Do {
	case machine.Create:
		w.create(i, o)
	case machine.List:
		w.list(i, o)
	case machine.Watch:
		w.watchPredecessor(i, o)
	case machine.WatchOwn:
		w.watchOwn(i, o)
	case machine.Verify:
		w.verify(i, o)
	case machine.Delete, machine.GiveBack:
		w.remove(i, o)
	}
}

// run mirrors session.run: what the goroutine asks for is on its way from now on.
func (w *world) run(i int, t task) {
	t.contender = uint8(i)
	w.sessionOf(i).tasks.push(t)
}

// tell mirrors session.tell.
func (w *world) tell(i int, n news) {
	c := &w.contenders[i]
	if c.stopped || c.inbox.n > 0 && c.inbox.at[c.inbox.n-1].Kind == machine.Closed {
		return // nothing comes after that but the same again
	}
	n.Epoch = w.sessionOf(i).epoch
	c.inbox.push(n)
}

// tellAll mirrors session.tellAll.
func (w *world) tellAll(s int, kind machine.Kind) {
	for i := range w.members(s) {
		if w.contenders[i].known.enlisted && !w.contenders[i].known.gone {
			w.tell(i, news{Kind: kind})
		}
	}
}

// happened mirrors session.happened, for the next event of the connection.
func (w *world) happened(s int) {
	tasks := &w.sessions[s].tasks
	for at := range tasks.all() {
		if t := &tasks.at[at]; t.behind > 0 {
			t.behind--
		}
	}
	switch ev := w.sessions[s].events.take(0); ev.kind {
	case nodeDeleted:
		w.nodeDeleted(s, ev.node)
	case childrenChanged:
		w.childrenChanged(s)
	case gotConnection:
		w.connected(s)
	case lostConnection:
		w.disconnected(s)
	case sessionExpired:
		w.endEpoch(s)
	}
}

// connected mirrors session.up.
func (w *world) connected(s int) {
	sess := &w.sessions[s]
	sess.up = true
	w.tellOfConnection(s, machine.Connected)
	orders := sess.parked
	sess.parked = fifo[parked]{}
	for _, p := range orders.all() {
		if !w.contenders[p.contender].known.gone {
			w.carryOut(int(p.contender), p.order)
		}
	}
	for i := range w.members(s) { // settleAgain
		if w.contenders[i].known.gone {
			w.settle(i)
		}
	}
}

// disconnected mirrors session.down.
func (w *world) disconnected(s int) {
	w.sessions[s].up = false
	w.dropWatches(s)
	w.wakeAll(s)
	w.tellOfConnection(s, machine.Disconnected)
}

// tellOfConnection is tellAll, but for a mistake.
func (w *world) tellOfConnection(s int, kind machine.Kind) {
	if !w.mistake(KeepQuiet) {
		w.tellAll(s, kind)
		return
	}
	for i := range w.members(s) {
		if w.contenders[i].State != messages.StateWatching {
			w.tell(i, news{Kind: kind})
		}
	}
}

// dropWatches is clear(s.watches) and clear(s.listings).
func (w *world) dropWatches(s int) {
	sess := &w.sessions[s]
	for t := range sess.tasks.all() {
		sess.tasks.at[t].listing.active = false
	}
	for i := range w.members(s) {
		w.contenders[i].known.vigil.live, w.contenders[i].known.vigil.second.live = false, false
		w.contenders[i].known.own.live = false
	}
}

// endEpoch mirrors session.endEpoch. What the goroutines of the old epoch bring back is dropped by
// Receive, so that they are dropped here.
func (w *world) endEpoch(s int) {
	sess := &w.sessions[s]
	if sess.up {
		w.tellAll(s, machine.Disconnected)
	}
	w.dropWatches(s)
	for i := range w.members(s) {
		r := &w.contenders[i].known
		if *r = (record{enlisted: r.enlisted, gone: r.gone}); r.gone {
			*r = record{}
		}
	}
	*sess = session{epoch: sess.epoch + 1}
	w.tellAll(s, machine.Expired)
}

// closeSession mirrors session.fail, end and closeDown. The servers end the session with its connection,
// or later; what its goroutines bring back reaches nobody.
func (w *world) closeSession(s int) {
	sess := &w.sessions[s]
	w.dropWatches(s)
	w.endAtServer(s)
	*sess = session{epoch: sess.epoch, ending: true}
	w.tellAll(s, machine.Closed)
	for i := range w.members(s) { // who is enlisted no longer matters to anybody
		c := &w.contenders[i]
		c.known = record{enlisted: c.known.enlisted}
	}
}

// unanswered mirrors session.unanswered.
func (w *world) unanswered(s int) {
	for i := range w.members(s) {
		if r := &w.contenders[i].known; r.granted && !r.gone {
			w.tell(i, news{Kind: machine.Silent})
		}
	}
}

// renew mirrors session.renew. An acknowledgement of a session that the servers have ended since is so
// old that the lease it gives is over: that is what the lease clock is calculated for.
func (w *world) renew(s int) {
	if sess := &w.sessions[s]; sess.alive {
		sess.lease = true
	}
}

// target mirrors session.target: it tells whether a heartbeat may be about this contender. Which of the
// holders, or else of the others, has its turn is left open.
func (w *world) target(i int) bool {
	r := &w.contenders[i].known
	if r.node == 0 || r.gone && !r.rest.has {
		return false
	}
	for other := range w.members(w.plan.Sessions[i]) {
		o := &w.contenders[other].known
		if o.node != 0 && !o.gone && o.granted && !r.granted {
			return false
		}
	}
	return true
}

// beats tells whether a heartbeat about this contender would change anything.
func (w *world) beats(i int) bool {
	s, c := w.sessionOf(i), &w.contenders[i]
	if !s.up || !s.linked || !s.alive || s.events.n > 0 || !w.target(i) {
		return false
	}
	if w.find(c.known.node) >= 0 {
		return !s.lease
	}
	if c.known.rest.resting {
		return true
	}
	for _, n := range c.inbox.all() {
		if n.Kind == machine.NodeGone {
			return false
		}
	}
	return !c.stopped
}

// beat mirrors beatNow and beaten, as one move.
func (w *world) beat(i int) {
	w.renew(w.plan.Sessions[i])
	if c := &w.contenders[i]; w.find(c.known.node) < 0 {
		if !c.known.gone {
			w.tell(i, news{Kind: machine.NodeGone})
			w.vanished(w.plan.Sessions[i], c.known.node)
		}
		w.restGone(i)
	}
}
