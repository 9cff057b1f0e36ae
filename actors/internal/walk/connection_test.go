package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Changes of the connection of a session, and of its lease, until the session is lost, given up or closed.

// Ways to lose a connection: a set.
const (
	repliesLost  = 1
	requestsWait = 2
)

// cut loses the connection. Its watches are gone, and the events that were on the wire. The coordinator hears of it
// later: unknown outcomes may come first.
func (w *world) cut(s, how int) {
	sess := &w.sessions[s]
	w.unwatch(s)
	if how&repliesLost != 0 {
		sess.wire = slices.DeleteFunc(slices.Clone(sess.wire), func(in coordinator.Input) bool {
			_, ofNode := in.(coordinator.Changed)
			return ofNode
		})
	}
	sess.flights = slices.Clone(sess.flights)
	for i := range sess.flights {
		f := &sess.flights[i]
		if !f.applied && how&requestsWait == 0 && f.stage == 0 && changes(f.query) && w.left[Outlives]+w.left[Moves] > 0 && !sess.moved {
			sess.outlive = with(sess.outlive, sent{f.query, w.epoch(s)})
		}
		if f.applied && how&repliesLost != 0 || !f.applied && how&requestsWait == 0 {
			f.lose(w.hangsUpOn(f.query))
		}
		f.behind = min(f.behind, len(sess.wire))
	}
	sess.link, sess.moved = unlinked, false
	w.event(s, coordinator.Disconnected{})
}

// hangsUpOn reports whether the servers may have hung up on a query that is lost. On a look they do so only in
// plans that have any, because that multiplies the states.
func (w *world) hangsUpOn(query coordinator.Query) bool {
	switch query.(type) {
	case *coordinator.Create, *coordinator.CreateAt, *coordinator.TakeOver, *coordinator.Commit:
		return w.plan.HangsUp
	case *coordinator.Look:
		return w.plan.HangsUp && w.plan.Bounds[Outlives] > 0
	}
	return false
}

// lose makes the outcome of a query unknown.
func (f *flight) lose(hungUp bool) {
	failure := unknown
	if hungUp {
		failure.Trouble = "the server hangs up"
	}
	f.fail(failure)
	f.lost = true
}

// putOff has the servers answer that they do not carry a query out now.
func (w *world) putOff(s, at int) {
	f := w.sessions[s].flights[at]
	f.fail(coordinator.Failure{Outcome: coordinator.Deferred, Trouble: "the server is throttled"})
	f.behind = len(w.sessions[s].wire)
	w.sessions[s].flights = replace(w.sessions[s].flights, at, f)
	if !w.plan.LateAnswers && arrives(&f) {
		w.deliver(s, at)
	}
}

// fail answers a query with a failure.
func (f *flight) fail(failure coordinator.Failure) {
	f.applied, f.behind, f.commits, f.print = true, 0, false, fingerprint{}
	switch f.query.(type) {
	case *coordinator.SeekReclaimable:
		f.answer = &coordinator.Reclaimable{Failure: failure}
	case *coordinator.Create, *coordinator.CreateAt, *coordinator.TakeOver:
		f.answer = &coordinator.Created{Failure: failure}
	case *coordinator.Commit:
		f.answer = &coordinator.Committed{Failure: failure}
	case *coordinator.List, *coordinator.WatchChildren:
		f.answer = &coordinator.Listed{View: coordinator.View{Failure: failure}}
	case *coordinator.Watch, *coordinator.ReadOwn:
		f.answer = &coordinator.Read{Failure: failure}
	case *coordinator.WatchContention:
		f.answer = &coordinator.Contention{Spent: true}
	case *coordinator.Look:
		f.answer = &coordinator.Looked{Failure: failure}
	default:
		f.answer = &coordinator.Ack{Failure: failure}
	}
}

// reconnect: a server takes the session up again, or says that it is over, or grants a new one.
func (w *world) reconnect(s int, to link) {
	sess := &w.sessions[s]
	if sess.served == ended {
		sess.flights = slices.Clone(sess.flights)
		for i := range sess.flights {
			if f := &sess.flights[i]; !f.applied {
				f.lose(w.hangsUpOn(f.query))
			}
		}
		sess.served = over
		w.event(s, coordinator.Expired{})
		return
	}
	if sess.served == unborn {
		sess.seen = w.servers.zxid // the transaction that has begun the session comes after all others
	}
	sess.served, sess.link = alive, to
	w.event(s, coordinator.Connected{Timeout: sessionTimeout})
}

// deliver brings the answer to a query. Answers come in any order, because each is brought by its
// own goroutine. But they come after the events that were before them on the wire, which are handed
// over as they are read.
func (w *world) deliver(s, at int) {
	sess := &w.sessions[s]
	f := sess.flights[at]
	sess.flights = but(sess.flights, at)
	if !f.lost {
		sess.seen = max(sess.seen, f.zxid)
		sess.lease = sess.lease || f.commits && sess.served == alive && (!sess.lapsed || w.mistake.Revives)
	}
	w.tell(s, &coordinator.Reply{ID: f.id, Answer: f.answer})
}

// arrive hands over the first event on the wire.
func (w *world) arrive(s int) {
	sess := &w.sessions[s]
	in := sess.wire[0]
	sess.wire = sess.wire[1:]
	sess.flights = slices.Clone(sess.flights)
	for i := range sess.flights {
		sess.flights[i].behind = max(sess.flights[i].behind-1, 0)
	}
	switch in.(type) {
	case coordinator.Connected:
		sess.up = true
	case coordinator.Disconnected:
		sess.up = false
	}
	w.tell(s, in)
}

// beatTells reports whether a heartbeat would find that a node is gone. Lock actors that were told so hear it first.
func (w *world) beatTells(s int) bool {
	sess := &w.sessions[s]
	if !sess.up || sess.link == unlinked || sess.moved || sess.served != alive || w.timer(s, coordinator.BeatTimer) == 0 {
		return false
	}
	for i, of := range w.plan.Sessions {
		if of == s && slices.ContainsFunc(w.actors[i].inbox, func(n envelope) bool { return n.event.Kind == machine.NodeGone }) {
			return false
		}
	}
	for name := range sess.decides.Nodes {
		if w.servers.at(name) < 0 {
			return true
		}
	}
	return false
}

// beat sends as many heartbeats as there are nodes: each checks one, in turn.
func (w *world) beat(s int) {
	w.beating = true
	nodes := 0
	for range w.sessions[s].decides.Nodes {
		nodes++
	}
	for range nodes {
		if w.beatTells(s) {
			w.ring(s, coordinator.BeatTimer)
			w.settle()
		}
	}
	w.beating = false
}

// silence: the answer to a heartbeat is late. It is in the mailbox.
func (w *world) silence(s int) {
	w.ring(s, coordinator.BeatTimer)
	w.ring(s, coordinator.LateTimer)
}

// lapse: the lease runs out.
func (w *world) lapse(s int) {
	sess := &w.sessions[s]
	sess.lease = false
	sess.term++
	w.termOver(s)
	w.ring(s, coordinator.LeaseTimer)
}

// carryOutAfterAll: the server that a session has left goes on, and makes the session its own again. So the leader takes
// its requests once more, between two connections of the client.
func (w *world) carryOutAfterAll(s, at int) {
	late := w.sessions[s].outlive[at]
	w.sessions[s].outlive = but(w.sessions[s].outlive, at)
	w.carryOut(s, late.query, func(n *node) { n.orphan = true })
}

// moveAway: likewise, while the connection is still read. The server of the connection finds out with the next transaction,
// and closes it.
func (w *world) moveAway(s, at int) {
	w.carryOutAfterAll(s, at)
	w.sessions[s].moved = true
}

// closeSession closes a session for good. All its requests hear of it.
func (w *world) closeSession(s int) {
	sess := &w.sessions[s]
	for i, of := range w.plan.Sessions {
		if of == s && w.actors[i].lives() {
			w.sayClosed(s, i)
		}
	}
	w.end(s)
	sess.closed, sess.link, sess.lease = true, unlinked, false
	sess.term++
	sess.flights, sess.wire, sess.timers = nil, nil, nil
	w.termOver(s)
}

// breakChain: the session lapses. No lease may rest on it any more, because its chain of evidence is broken: see package
// zkconn. The servers may end it at any moment from then on, even though they still commit its transactions.
func (w *world) breakChain(s int) {
	sess := &w.sessions[s]
	sess.lapsed = true
	if !w.mistake.Outlasts {
		sess.lease = false
		sess.term++
		w.termOver(s)
	}
	w.tell(s, coordinator.Lapsed{})
}

// giveUp: the client gives up a session that has lapsed. It does so as soon as a request wants a lease.
func (w *world) giveUp(s int) { w.tell(s, coordinator.Expired{}) }

// arrives reports whether the answer to a query may be brought.
func arrives(f *flight) bool { return f.applied && f.behind == 0 }
