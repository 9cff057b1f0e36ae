package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// trouble makes a move of the connection, or of the servers' side of a session.
func (w *world) trouble(kind moveKind, s, how int) {
	sess := &w.sessions[s]
	switch kind {
	case cuts:
		w.cut(s, how)
	case collapses:
		w.cutConnection(s, repliesLost)
	case reconnects, reconnectsLagging:
		w.reconnect(s, kind == reconnectsLagging)
	case catchesUp:
		w.catchUp(s)
	case buries:
		w.bury(s)
	case silences:
		w.left.Silences--
		w.silence(s)
	case lapses:
		w.left.Lapses--
		w.lapse(s)
	case expires:
		w.left.Expiries--
		w.endAtServers(s)
	case closes:
		w.left.Closes--
		w.close(s)
	}
	_ = sess
}

// cut loses the connection of a session, once of those that are allowed.
func (w *world) cut(s, how int) {
	w.left.Cuts--
	w.cutConnection(s, how)
}

// cutConnection loses the connection. Its watches are gone, and the events that were on the wire. The coordinator hears of it
// later: outcomes that are unknown may come first.
func (w *world) cutConnection(s, how int) {
	sess := &w.sessions[s]
	flights := slices.Clone(sess.flights)
	for i := range flights {
		if f := &flights[i]; f.applied && how&repliesLost != 0 || !f.applied && how&requestsWait == 0 {
			f.lose()
		}
	}
	sess.flights = flights
	w.unwatch(s)
	if how&repliesLost != 0 {
		w.loseEvents(s)
	}
	sess.lagging, sess.linked = false, false
	w.event(s, coordinator.Disconnected{})
}

// lose makes the outcome of a query unknown.
func (f *flight) lose() {
	f.applied, f.lost, f.behind, f.commits = true, true, 0, false
	switch f.query.(type) {
	case *coordinator.Create, *coordinator.CreateAt:
		f.answer = &coordinator.Created{Failure: unknown}
	case *coordinator.Commit:
		f.answer = &coordinator.Committed{Failure: unknown}
	case *coordinator.List, *coordinator.WatchChildren:
		f.answer = &coordinator.Listed{View: coordinator.View{Failure: unknown}}
	case *coordinator.Watch, *coordinator.ReadOwn:
		f.answer = &coordinator.Read{Failure: unknown}
	case *coordinator.WatchRetained:
		f.answer = &coordinator.Arrivals{Spent: true}
	case *coordinator.Find:
		f.answer = &coordinator.Found{Failure: unknown}
	default:
		f.answer = &coordinator.Done{Failure: unknown}
	}
}

// loseEvents drops the events of nodes that are on the wire.
func (w *world) loseEvents(s int) {
	sess := &w.sessions[s]
	var left []coordinator.Input
	for _, in := range sess.wire {
		if _, node := in.(coordinator.Changed); !node {
			left = append(left, in)
		}
	}
	sess.wire = left
	flights := slices.Clone(sess.flights)
	for i := range flights {
		flights[i].behind = min(flights[i].behind, len(left))
	}
	sess.flights = flights
}

// reconnect: a server takes the session up again, or says that it is over, or gives a new one.
func (w *world) reconnect(s int, lagging bool) {
	sess := &w.sessions[s]
	switch {
	case !sess.established:
		sess.established, sess.alive, sess.linked = true, true, true
		sess.seen = w.servers.zxid // the transaction that has begun the session comes after all others
		w.event(s, coordinator.Connected{Timeout: sessionTimeout})
	case sess.alive:
		if lagging {
			w.left.Lags--
		}
		sess.lagging, sess.linked = lagging, true
		w.event(s, coordinator.Connected{Timeout: sessionTimeout})
	default:
		flights := slices.Clone(sess.flights)
		for i := range flights {
			if !flights[i].applied {
				flights[i].lose()
			}
		}
		sess.flights, sess.over = flights, true
		w.event(s, coordinator.Expired{})
	}
}

// endAtServers: the servers end a session. The transaction that deletes its nodes comes later, because they refuse to take
// the session up again before it does (CURATOR-604).
func (w *world) endAtServers(s int) {
	w.sessions[s].alive = false
	w.unwatch(s)
	nodes := slices.Clone(w.servers.nodes)
	for i := range nodes {
		nodes[i].doomed = nodes[i].doomed || nodes[i].session == s && nodes[i].epoch <= w.epoch(s)
	}
	w.servers.nodes = nodes
}

// bury deletes the nodes of sessions that are over.
func (w *world) bury(s int) {
	for _, n := range slices.Clone(w.servers.nodes) {
		if n.doomed && n.session == s {
			w.deleteNode(n.name)
		}
	}
}

// silence: the answer to a heartbeat is late.
func (w *world) silence(s int) {
	w.tell(s, coordinator.Fired{Timer: w.timer(s, coordinator.BeatTimer)})
	if late := w.timer(s, coordinator.LateTimer); late != 0 { // before the answer, which is in the mailbox
		w.tell(s, coordinator.Fired{Timer: late})
	}
}

// lapse: the lease runs out.
func (w *world) lapse(s int) {
	sess := &w.sessions[s]
	sess.lease = false
	sess.run++
	if timer := w.timer(s, coordinator.LeaseTimer); timer != 0 {
		w.tell(s, coordinator.Fired{Timer: timer})
	}
}

// close: the session is closed for good, and all its requests hear of it.
func (w *world) close(s int) {
	sess := &w.sessions[s]
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && a.begun && !a.stopped {
			a.inbox = with(a.inbox, news{machine.Event{Kind: machine.Closed}, w.epoch(s)})
		}
	}
	w.endAtServers(s)
	sess.ending, sess.linked, sess.lease = true, false, false
	sess.run++
	sess.flights, sess.wire = nil, nil
}
