package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// find gives the place of a node among those that exist, -1 when it does not.
func (w *world) find(id nodeID) int {
	for at, n := range w.zk.nodes.all() {
		if n.id == id {
			return at
		}
	}
	return -1
}

// shows tells whether the server that a session is connected to shows a node.
func (w *world) shows(s int, n node) bool {
	sess := &w.sessions[s]
	return !sess.lagging || n.czxid <= sess.seen
}

// apply lets the servers carry out a request.
func (w *world) apply(s, at int) {
	sess := &w.sessions[s]
	t := &sess.tasks.at[at]
	if t.decided != 0 && t.decided != sess.epoch {
		w.violate(OneSession, "%s: %v was decided on in epoch %d and is carried out in epoch %d",
			contenderName(int(t.contender)), t.Do, t.decided, sess.epoch)
	}
	if writes := t.Do == machine.Create || t.Do == machine.Delete || t.Do == machine.Settle || t.Do == checkRest; writes {
		w.catchUp(s)
	}
	t.applied, t.behind = true, sess.events.n
	switch t.Do {
	case machine.Create:
		w.zk.zxid++
		w.contenders[t.contender].known.mates = false
		w.makeNode(s, t)
		w.childrenWatchesFire()
		t.behind = sess.events.n
	case machine.Delete:
		if t.beside != 0 && w.find(t.beside) < 0 {
			t.result = missing
			break
		}
		w.checkDelete(int(t.contender), t.node)
		t.result = w.deleteNode(t.node)
	case machine.List, watchArrivals:
		w.zk.watched[s] = w.zk.watched[s] || t.Do == watchArrivals
		for i, n := range w.zk.nodes.all() {
			if w.shows(s, n) {
				t.listing.shown[i] = n.id
			}
		}
	case machine.Watch, machine.WatchOwn, watchSecond:
		t.result = w.readWatched(s, t)
	case checkRest:
		t.behind = sess.events.n
		if w.find(t.node) < 0 {
			t.result = noNode
		}
	case machine.Verify:
		w.applyVerify(s, t)
	case machine.Settle:
		w.applySettle(s, t)
	}
	t.zxid = w.zk.zxid
	if sess.lagging {
		t.zxid = sess.seen
	}
}

func (w *world) makeNode(s int, t *task) {
	sess := &w.sessions[s]
	if w.contest(int(t.contender)) && w.zk.nodes.n > 0 {
		w.zk.zxid-- // nothing was done
		w.lookAtContest(s, t)
		return
	}
	n := node{
		id: newNodeID(int(w.contenders[t.contender].guid), w.plan.Modes[t.contender], w.zk.sequence), session: uint8(s), epoch: sess.epoch,
		czxid: w.zk.zxid,
	}
	w.zk.sequence++
	w.zk.nodes.push(n)
	w.contenders[t.contender].broken, w.contenders[t.contender].handed = false, false
	t.node, t.czxid, t.alone = n.id, n.czxid, w.zk.nodes.n == 1
}

// contest tells whether a contender's lock has one node and no queue.
func (w *world) contest(contender int) bool { return w.plan.Modes[contender] == messages.Contest }

// lookAtContest is ownContest of actors/contest.go: whose the node is that is there already.
func (w *world) lookAtContest(s int, t *task) {
	there := w.zk.nodes.at[0]
	t.node, t.czxid, t.result = there.id, there.czxid, taken
	ours := int(there.session) == s && there.epoch == w.sessions[s].epoch && there.id.contender() == int(t.contender)
	if ours || w.mistake(AdoptAnothersContest) {
		t.result, t.alone = succeeded, true
	}
}

// deleteNode deletes a node and fires its watches. What a server sends is lost with its connection, and
// reaches a client in the order in which it was sent.
func (w *world) deleteNode(id nodeID) outcome {
	at := w.find(id)
	if at < 0 {
		return noNode
	}
	n := w.zk.nodes.take(at)
	for s := range w.sessions {
		if n.watched[s] {
			w.sessions[s].events.push(event{nodeDeleted, id})
		}
	}
	w.childrenWatchesFire()
	return succeeded
}

// readWatched reads a node and sets a watch on it.
func (w *world) readWatched(s int, t *task) outcome {
	at := w.find(t.node)
	if at < 0 || !w.shows(s, w.zk.nodes.at[at]) {
		if w.mistake(WatchTheGone) && t.Do == machine.Watch {
			return succeeded
		}
		return noNode
	}
	w.zk.nodes.at[at].watched[s] = true
	return succeeded
}

// applyVerify is findOwn of actors/verifying.go. It takes two moves: the look, where it is needed, and
// the heartbeat.
func (w *world) applyVerify(s int, t *task) {
	sess := &w.sessions[s]
	if !t.looked {
		if !w.mistake(VerifyWithoutSync) {
			w.catchUp(s)
			t.behind = sess.events.n
		}
		all := w.ownNodes(s, int(t.contender))
		if len(all) == 0 {
			t.result = noNode
			return
		}
		for _, extra := range all[1:] {
			w.deleteNode(extra.id)
		}
		t.node, t.czxid = all[0].id, all[0].czxid
		t.looked, t.applied, t.behind = true, false, 0
		return
	}
	w.catchUp(s)
	t.behind = sess.events.n
	if w.find(t.node) < 0 {
		t.result = noNode
	}
}

// ownNodes is the function of that name of actors/verifying.go, once the server does not lag.
func (w *world) ownNodes(s, contender int) []node {
	var all []node
	for _, n := range w.zk.nodes.all() {
		ours := int(n.session) == s && n.epoch == w.sessions[s].epoch || w.mistake(AdoptAnyOwner)
		if n.id.contender() == int(w.contenders[contender].guid) && ours && w.shows(s, n) {
			all = append(all, n)
		}
	}
	return all
}

// applySettle is deleteAll of actors/deleting.go: a look, where it is needed, and a delete for each node.
func (w *world) applySettle(s int, t *task) {
	all := w.ownNodes(s, int(t.contender))
	if t.looked {
		w.checkDelete(int(t.contender), t.node)
		w.deleteNode(t.node)
		return
	}
	if len(all) == 0 {
		return
	}
	if t.node == all[0].id {
		w.deleteNode(t.node)
		all = all[1:]
	}
	if len(all) > 0 {
		t.node, t.applied, t.behind = all[0].id, false, 0
	}
}

// deliver brings the answer of a request to the session actor. Answers come in any order, each is
// brought by a goroutine of its own; but after the events that came before them on the wire, which are
// handed over as they are read.
func (w *world) deliver(s, at int) {
	sess := &w.sessions[s]
	t := sess.tasks.take(at)
	if t.shared && t.Do == machine.Create && t.result != unknown {
		defer w.deliverShared(s)
	}
	if t.result != unknown && t.zxid > sess.seen {
		sess.seen = t.zxid
	}
	switch t.Do {
	case machine.Create:
		w.created(t)
	case machine.Delete:
		w.removed(t)
	case machine.List:
		w.listed(t)
	case machine.Watch:
		w.watched(t)
	case watchSecond:
		w.secondRead(t)
	case watchArrivals:
		w.arrivalsRead(t)
	case checkRest:
		w.checked(t)
	case machine.WatchOwn:
		w.ownRead(t)
	case machine.Verify:
		w.verified(t)
	case machine.Settle:
		w.settled(t)
	}
}

// endAtServer: the servers end a session. The transaction that deletes its nodes comes later, because
// they refuse to take the session up again before it does (CURATOR-604).
func (w *world) endAtServer(s int) {
	sess := &w.sessions[s]
	w.zk.watched[s] = false
	sess.alive = false
	for at := range w.zk.nodes.all() {
		if n := &w.zk.nodes.at[at]; int(n.session) == s && n.epoch == sess.epoch {
			n.doomed = true
		}
		w.zk.nodes.at[at].watched[s] = false
	}
}

// bury deletes the nodes of sessions that are over.
func (w *world) bury(s int) {
	for at := 0; at < int(w.zk.nodes.n); {
		if n := w.zk.nodes.at[at]; n.doomed && int(n.session) == s {
			w.deleteNode(n.id)
		} else {
			at++
		}
	}
}

// cut loses the connection of a session. The watches of the connection are gone, and the events that
// were on the wire. The session actor hears of it later: outcomes that are unknown may come first.
func (w *world) cut(s int, repliesLost, requestsWait bool) {
	sess := &w.sessions[s]
	for at := range sess.tasks.all() {
		t := &sess.tasks.at[at]
		if t.applied && repliesLost || !t.applied && !requestsWait {
			t.applied, t.result, t.behind = true, unknown, 0
		}
	}
	for at := range w.zk.nodes.all() {
		w.zk.nodes.at[at].watched[s] = false
	}
	w.zk.watched[s] = false
	if repliesLost {
		w.loseEvents(sess)
	}
	sess.lagging, sess.linked = false, false
	sess.events.push(event{kind: lostConnection})
}

// loseEvents drops the events of nodes that are on the wire.
func (w *world) loseEvents(sess *session) {
	for at := 0; at < int(sess.events.n); {
		if k := sess.events.at[at].kind; k != nodeDeleted && k != childrenChanged {
			at++
			continue
		}
		sess.events.take(at)
		for t := range sess.tasks.all() {
			if sess.tasks.at[t].behind > uint8(at) {
				sess.tasks.at[t].behind--
			}
		}
	}
}

// reconnect: a server takes the session up again, or says that it is over, or gives a new one.
func (w *world) reconnect(s int, lagging bool) {
	sess := &w.sessions[s]
	switch {
	case !sess.established:
		sess.established, sess.alive, sess.linked = true, true, true
		sess.seen = w.zk.zxid // the transaction that has begun the session comes after all others
		sess.events.push(event{kind: gotConnection})
	case sess.alive:
		sess.lagging, sess.linked = lagging, true
		sess.events.push(event{kind: gotConnection})
	default:
		for at := range sess.tasks.all() {
			if t := &sess.tasks.at[at]; !t.applied {
				t.applied, t.result = true, unknown
			}
		}
		sess.over = true
		sess.events.push(event{kind: sessionExpired})
	}
}
