package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// make makes a move, and all that follows at once.
func (w *world) make(m move) {
	if w.telling {
		w.lines = append(w.lines, w.describe(m))
	}
	if w.command(m) || w.operator(m) {
		w.settle()
	} else {
		w.moveSession(m.kind, int(m.a), int(m.b))
		w.settle()
	}
	w.readAtOnce()
	if w.violation == nil {
		w.checkHolders()
	}
}

// readAtOnce fires the timers for the reads of holders' nodes: who holds reads its node at once.
func (w *world) readAtOnce() {
	for s := range w.sessions {
		for timer := w.timer(s, coordinator.ReadTimer); timer != 0 && !w.sessions[s].ending && w.violation == nil; timer = w.timer(s, coordinator.ReadTimer) {
			w.tell(s, coordinator.Fired{Timer: timer})
			w.settle()
		}
	}
}

// command makes a move of one request.
func (w *world) command(m move) bool {
	i := int(m.a)
	step := func(kind machine.Kind, bound *uint8) bool {
		if bound != nil && *bound != Always {
			*bound--
		}
		w.step(i, machine.Event{Kind: kind})
		return true
	}
	switch m.kind {
	case begins:
		w.actors[i].begun = true
		return step(machine.Begin, nil)
	case hears:
		w.actors[i].slow = w.actors[i].slow && len(w.actors[i].inbox) > 1
		w.hear(i)
		return true
	case retries, polls:
		if m.kind == polls {
			w.left.Polls--
		}
		op := w.actors[i].poll
		w.actors[i].poll = 0
		w.step(i, machine.Event{Kind: machine.Poll, Op: op})
		return true
	case releases:
		return step(machine.Release, nil)
	case releasesEarly:
		return step(machine.Release, &w.left.Releases)
	case cancels:
		return step(machine.Cancel, &w.left.Cancels)
	case timesOut:
		return step(machine.Timeout, &w.left.Timeouts)
	case revokes:
		return step(machine.Revoke, &w.left.Revokes)
	case graceEnds:
		w.actors[i].grace = false
		return step(machine.GraceOver, nil)
	case lingers:
		w.left.Slow--
		w.actors[i].slow = true
		return true
	case stops:
		w.left.Stops--
		w.stop(i)
		return true
	}
	return false
}

// operator makes a move of an operator, or of the servers' housekeeping.
func (w *world) operator(m move) bool {
	switch m.kind {
	case breaks:
		w.left.Breaks--
		name := w.servers.nodes[m.a].name
		for i := range w.plan.Sessions {
			if w.actors[i].m.Node == name || w.servers.nodes[m.a].guid == guid(i) {
				w.actors[i].broken = true
			}
		}
		w.deleteNode(name)
	case asksBack:
		w.left.Asks--
		w.write(int(m.a), func(n *node) { n.wanted = true })
	case reaps:
		w.left.Reaps--
		w.servers.sequence, w.servers.permits = 0, 0
	default:
		return false
	}
	return true
}

// moveSession makes a move of a session.
func (w *world) moveSession(kind moveKind, s, at int) {
	sess := &w.sessions[s]
	switch kind {
	case takes:
		w.take(s)
	case applies:
		w.carryOut(s, at)
		if f := sess.flights[at]; w.plan.Prompt && f.applied && f.behind == 0 {
			w.deliver(s, at)
		}
	case appliesOnly:
		w.left.Slow--
		w.carryOut(s, at)
	case appliesLast:
		w.carryOut(s, at)
		w.cut(s, repliesLost)
	case delivers:
		w.deliver(s, at)
	case fires:
		w.arrive(s)
	case rings:
		w.tell(s, coordinator.Fired{Timer: w.timer(s, coordinator.TimerKind(at))})
	case retentionEnds:
		w.tell(s, coordinator.Fired{Timer: w.timer(s, coordinator.RetentionTimer)})
	case beats:
		w.beat(s)
	case dawdles:
		w.left.Late--
		sess.late = true
	default:
		w.trouble(kind, s, at)
	}
}

// deliver brings the answer to a query. Answers come in any order, each is brought by a goroutine of its own; but after the
// events that came before them on the wire, which are handed over as they are read.
func (w *world) deliver(s, at int) {
	sess := &w.sessions[s]
	f := sess.flights[at]
	sess.flights = but(sess.flights, at)
	if !f.lost {
		sess.seen = max(sess.seen, f.zxid)
		sess.lease = sess.lease || f.commits && sess.alive
	}
	w.tell(s, &coordinator.Reply{ID: f.id, Answer: f.answer})
}

// arrive hands over the first event on the wire.
func (w *world) arrive(s int) {
	sess := &w.sessions[s]
	in := sess.wire[0]
	sess.wire = sess.wire[1:]
	flights := slices.Clone(sess.flights)
	for i := range flights {
		flights[i].behind = max(flights[i].behind-1, 0)
	}
	sess.flights = flights
	switch in.(type) {
	case coordinator.Connected:
		sess.up = true
	case coordinator.Disconnected:
		sess.up = false
	}
	w.tell(s, in)
}

// beat sends heartbeats until one tells that a node is gone.
func (w *world) beat(s int) {
	w.beating = true
	for range maxActors + 1 {
		if timer := w.timer(s, coordinator.BeatTimer); timer != 0 && w.beatTells(s) {
			w.tell(s, coordinator.Fired{Timer: timer})
			w.settle()
		}
	}
	w.beating = false
}
