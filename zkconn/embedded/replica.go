package embedded

import (
	"slices"
	"time"
)

// following means that the leader's transactions come here.
func (r *Replica) following() bool {
	return r.running && r.cut == connected && !r.looking && r.e.leader != nil
}

// serves means that clients are let in.
func (r *Replica) serves() bool {
	return r.running && !r.looking && (r.cut != connected || r.e.leader != nil)
}

// catchUp applies the transactions that were committed and are not applied here yet.
func (r *Replica) catchUp() {
	for len(r.behind) > 0 {
		x := r.behind[0]
		r.behind = r.behind[1:]
		r.results = r.tree.apply(x)
		if x.op == OpCloseSession && x.asker != r.number {
			r.sessionClosed(x.session)
		}
	}
	r.behind = nil
}

// sessionClosed closes the connection of a session that has ended, once the earlier answers are
// sent. A replica whose own client has asked for the end closes the connection of that request
// alone, after the reply. If the session has come back to the replica on another connection
// meanwhile, the new connection stays, as in ZooKeeper (FinalRequestProcessor.applyRequest).
func (r *Replica) sessionClosed(id int64) {
	if c := r.bySession[id]; c != nil {
		c.park()
		c.out.finish()
	}
}

func (r *Replica) dropClients() {
	if r.paused() {
		r.pause = max(r.pause, asleepDropping)
		return
	}
	for _, c := range slices.Clone(r.conns.items) {
		c.shut()
	}
}

// dropSilent closes connections that have sent nothing for their session's timeout, and connections
// that have not asked for a session within handshakeTimeout.
func (r *Replica) dropSilent(now time.Time) {
	if r.paused() {
		return
	}
	for _, c := range slices.Clone(r.conns.items) {
		if now.Sub(c.heard) >= c.timeout {
			c.shut()
		}
	}
}

// deaf means that the replica reads nothing from its clients.
func (r *Replica) deaf() bool { return r.paused() || r.unheard }

// wakeUp lets a paused replica read and send.
func (r *Replica) wakeUp() {
	if !r.paused() {
		return
	}
	r.pause = awake
	for _, c := range r.conns.items {
		c.out.hold(-1)
	}
}

// reach means that two replicas can talk to each other.
func (e *ensemble) reach(a, b *Replica) bool {
	there, back := e.lines[[2]*Replica{a, b}], e.lines[[2]*Replica{b, a}]
	return a == b || !a.paused() && !b.paused() && !there.stalled && !back.stalled
}
