package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// make carries a move out.
func (w *world) make(m move) {
	if w.telling {
		w.note("%s", w.describe(m))
	}
	a, b := int(m.a), int(m.b)
	switch m.kind {
	case begins:
		w.contenders[a].begun = true
		w.step(a, machine.Event{Kind: machine.Begin})
	case lingers:
		w.left.Slow--
		w.contenders[a].slow = true
	case hears:
		w.hear(a)
	case hearsLate:
		w.left.Late--
		w.late = true
		w.hear(a)
	case takes:
		w.take(a, w.contenders[a].outbox.take(0))
	case learnsOfEnd:
		w.terminated(a)
	case restEnds:
		w.endRest(a)
	case settlesAgain:
		w.contenders[a].known.settleDue = false
		w.settle(a)
	case beats:
		w.beat(a)
	case retries:
		w.alarm(a, machine.Poll)
	case polls:
		w.left.Polls--
		w.alarm(a, machine.Poll)
	default:
		w.makeOfSession(m.kind, a, b)
	}
	w.checkHolders()
	for i := w.inHaste(); i >= 0 && w.left.Slow == 0 && w.left.Late == 0; i = w.inHaste() {
		w.hear(i) // nothing else may happen: no state of its own
		w.checkHolders()
	}
}

// alarm mirrors the alarms of actors/lock.go.
func (w *world) alarm(i int, kind machine.Kind) {
	c := &w.contenders[i]
	ev := machine.Event{Kind: kind}
	if kind == machine.Poll {
		ev.Op = uint64(c.poll)
		c.poll = 0
	}
	w.step(i, ev)
}

// makeOfSession carries out what goes on between a session and the servers.
func (w *world) makeOfSession(kind moveKind, a, b int) {
	switch kind {
	case applies:
		w.apply(a, b)
		if t := &w.sessions[a].tasks.at[b]; w.plan.Prompt && t.applied && t.behind == 0 {
			w.deliver(a, b)
		}
	case appliesTogether:
		w.applyTogether(a)
	case appliesOnly:
		w.left.Slow--
		w.apply(a, b)
	case appliesLast:
		w.left.Cuts--
		w.apply(a, b)
		w.cut(a, true, false)
	case delivers:
		w.deliver(a, b)
	case fires:
		w.happened(a)
	case reconnects:
		w.reconnect(a, false)
	case reconnectsLagging:
		w.left.Lags--
		w.reconnect(a, true)
	case catchesUp:
		w.catchUp(a)
	case collapses:
		w.cut(a, true, false)
	case buries:
		w.bury(a)
	default:
		w.makeTrouble(kind, a, b)
	}
}

// makeTrouble carries out the moves that are counted, and the owner's commands.
func (w *world) makeTrouble(kind moveKind, a, b int) {
	switch kind {
	case releases:
		w.step(a, machine.Event{Kind: machine.Release})
	case releasesEarly:
		w.left.Releases--
		w.step(a, machine.Event{Kind: machine.Release})
	case cancels:
		w.left.Cancels--
		w.step(a, machine.Event{Kind: machine.Cancel})
	case timesOut:
		w.left.Timeouts--
		w.step(a, machine.Event{Kind: machine.Timeout})
	case revokes:
		w.left.Revokes--
		w.step(a, machine.Event{Kind: machine.Revoke})
	case graceEnds:
		w.contenders[a].grace = false
		w.step(a, machine.Event{Kind: machine.GraceOver})
	case stops:
		w.left.Stops--
		w.stop(a)
	case cuts:
		w.left.Cuts--
		w.cut(a, b&repliesLost != 0, b&requestsWait != 0)
	case silences:
		w.left.Silences--
		w.unanswered(a)
	case lapses: // the timer of watchLease; a lock actor may find out before it hears of it
		w.left.Lapses--
		w.sessions[a].lease = false
		w.tellAll(a, machine.LeaseOver)
	case expires:
		w.left.Expiries--
		w.endAtServer(a)
	case breaks:
		w.left.Breaks--
		n := w.zk.nodes.at[a]
		for i := range w.plan.Sessions {
			c := &w.contenders[i]
			c.handed = false // that of who gave it back may have gone
			if int(c.guid) == n.id.contender() || w.foundBefore(i, n.id) {
				c.broken = true
			}
		}
		w.deleteNode(n.id)
	case reaps:
		w.left.Reaps--
		w.zk.sequence = 0
	case closes:
		w.left.Closes--
		w.closeSession(a)
	}
}
