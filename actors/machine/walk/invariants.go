package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Invariant names what is to hold; the numbers are those by which the stories of violations name them.
type Invariant string

// The invariants.
const (
	// Exclusion: at no time do two contenders rely on the lock with valid leases.
	Exclusion Invariant = "1: mutual exclusion"
	// TokensRise: tokens strictly increase in grant order.
	TokensRise Invariant = "2: tokens rise"
	// NoOrphan: a request that has ended leaves no node, nor anything that will make one.
	NoOrphan Invariant = "3: no orphan"
	// NoLostWakeUp: the queue never stands still while its head is alive and nobody holds.
	NoLostWakeUp Invariant = "4: no lost wake-up"
	// InOrder: grants follow sequence numbers.
	InOrder Invariant = "6: first in, first out"
	// AllEnd: every request can reach its end, whatever has happened.
	AllEnd Invariant = "7: every request ends"
	// Notices: what the owner is told makes sense. Lost is final; a grant or a resumption needs a valid
	// lease.
	Notices Invariant = "8: Lost is final, a grant has a lease"
	// OneSession: no request that was decided on in one session is carried out in another.
	OneSession Invariant = "9: one session"
	// NeverImpossible: no event comes that the machine declares impossible.
	NeverImpossible Invariant = "no impossible event"
)

// relies tells whether the owner of a request may believe that it holds the lock. An operator who
// deletes a holder's node takes its lock away at once, which it learns later: that is his to know. But to whom the lock
// is handed within the session, without a node, the servers give nothing away before that one has been told.
func (w *world) relies(i int) bool {
	c := &w.contenders[i]
	return !c.stopped && (!c.broken || c.handed) && c.machine().Holding() && w.valid(i, c.held)
}

// checkHolders is invariant 1.
func (w *world) checkHolders() {
	for i := range w.plan.Sessions {
		for holder := range i {
			shared := w.plan.Modes[i] == messages.Read && w.plan.Modes[holder] == messages.Read
			if !shared && w.relies(holder) && w.relies(i) {
				w.violate(Exclusion, "%s and %s both hold the lock with valid leases", contenderName(holder), contenderName(i))
			}
		}
	}
}

// checkDelete is invariant 1 where a session deletes a node for one contender: no other may rely on it.
func (w *world) checkDelete(i int, id nodeID) {
	for j := range w.plan.Sessions {
		if c := &w.contenders[j]; j != i && id != 0 && c.Node == id && w.relies(j) {
			w.violate(Exclusion, "%v is deleted for %s, while %s holds with it", id, contenderName(i), contenderName(j))
		}
	}
}

// checkNotice is invariants 2, 6 and 8, where a notice is sent.
func (w *world) checkNotice(i int, do machine.Do) {
	c := &w.contenders[i]
	legal := true
	switch do {
	case machine.TellHeld:
		legal = !c.toldHeld && !c.toldOver && w.valid(i, c.epoch) && c.Node != 0
		c.toldHeld = true
		w.checkGrant(i)
	case machine.TellSuspended:
		legal = c.toldHeld && !c.toldOver && !c.toldSuspended
		c.toldSuspended = true
	case machine.TellResumed:
		legal = c.toldHeld && !c.toldOver && c.toldSuspended && w.valid(i, c.held)
		c.toldSuspended = false
	case machine.TellRevokeRequested:
		legal = c.toldHeld && !c.toldOver
	case machine.TellRevoked:
		legal = c.toldHeld && !c.toldOver
		c.toldOver = true
	case machine.TellLost:
		legal = c.toldHeld && !c.toldOver
		c.toldOver = true
	case machine.TellReleased:
		legal = c.toldHeld
		c.toldOver = true
	case machine.TellCancelled:
		legal = !c.toldHeld
		c.toldOver = true
	case machine.TellFailed:
		c.toldOver = true
	}
	if w.telling {
		w.note("%s: %v", contenderName(i), do)
	}
	if !legal {
		w.violate(Notices, "%s: %v must not be told now", contenderName(i), do)
	}
}

func (w *world) checkGrant(i int) {
	c := &w.contenders[i]
	if c.broken {
		return // granted to a node that the operator has deleted meanwhile, as relies says
	}
	if c.Token <= w.newestGrant {
		w.violate(TokensRise, "%s is granted the lock with token %d after a grant with token %d",
			contenderName(i), c.Token, w.newestGrant)
	}
	if w.plan.Modes[i] != messages.Read { // readers are granted in any order
		w.newestGrant = c.Token
	}
	at := w.find(c.Node)
	if at < 0 {
		return // it has just gone, and this request will hear of it
	}
	for _, n := range w.zk.nodes.all()[:at] {
		if c.Node.waitsFor(n.id) && !w.handsOver(n.id, i) {
			w.violate(InOrder, "%s is granted the lock while %v is before it", contenderName(i), n.id)
		}
	}
}

// handsOver tells whether those who had a node that is before a contender's in the queue have given the lock back within
// their session; the node is still to be deleted.
func (w *world) handsOver(before nodeID, i int) bool {
	for j := range w.plan.Sessions {
		c := &w.contenders[j]
		if int(c.guid) != before.contender() || !c.begun {
			continue
		}
		m := c.machine()
		gaveBack := !m.Holding() && m.Ending == messages.StateReleased
		if w.plan.Sessions[j] != w.plan.Sessions[i] || !gaveBack && !c.stopped {
			return false
		}
	}
	return true
}

// checkEnd is invariant 3 at the moment at which a request says that it has ended. What the session was
// told to settle, and what the servers are about to delete, goes later.
func (w *world) checkEnd(i int, settled bool) {
	s := w.sessionOf(i)
	if settled || s.ending || !s.alive {
		return
	}
	for _, n := range w.zk.nodes.all() {
		if n.id.contender() == i && !n.doomed && !w.plan.Sticky[i] { // what is sticky the session deletes later
			w.violate(NoOrphan, "%s says that it has ended, but there is %v", contenderName(i), n.id)
		}
	}
	for _, t := range s.tasks.all() {
		if t.Do == machine.Create && int(t.contender) == i && !t.applied {
			w.violate(NoOrphan, "%s says that it has ended, but a create is under way", contenderName(i))
		}
	}
}

// checkQuiet is invariants 3, 4 and 7, in a state in which nothing will happen unless somebody wants
// something, or something goes wrong. Polls do not count: they are a net under the watches.
func (w *world) checkQuiet() {
	for i := range w.plan.Sessions {
		if c := &w.contenders[i]; c.Ending != messages.StateNone && !c.stopped {
			w.violate(AllEnd, "nothing is under way, but %s, which is to end, is %v", contenderName(i), c.State)
		}
	}
	for _, n := range w.zk.nodes.all() {
		if w.rests(n.id) >= 0 {
			continue
		}
		if c := w.user(n.id); c.stopped {
			w.violate(NoOrphan, "nothing is under way, but there is %v, whose request has ended", n.id)
		} else if c.Node != n.id {
			w.violate(NoOrphan, "nothing is under way, but there is %v, which nobody knows", n.id)
		}
	}
	for i := range w.plan.Sessions {
		if c := &w.contenders[i]; w.contest(i) && w.zk.nodes.n == 0 && c.begun && !c.stopped {
			w.violate(NoLostWakeUp, "nothing is under way, and there is no node, but %s is %v", contenderName(i), c.State)
		}
	}
	for at, n := range w.zk.nodes.all() {
		if slices.ContainsFunc(w.zk.nodes.all()[:at], func(before node) bool { return n.id.waitsFor(before.id) }) {
			continue
		}
		if w.rests(n.id) >= 0 {
			if int(w.zk.nodes.n) > at+1 {
				w.violate(NoLostWakeUp, "nothing is under way, and %v rests, but somebody has come", n.id)
			}
			continue
		}
		if c := w.user(n.id); !c.stopped && !c.Holding() {
			w.violate(NoLostWakeUp, "nothing is under way, and %v has nobody to wait for, but its request is %v",
				n.id, c.State)
		}
	}
}

// user gives the contender that has a node: the one that has made it, or that has taken it up.
func (w *world) user(id nodeID) *contender {
	for i := range w.plan.Sessions {
		if c := &w.contenders[i]; c.Node == id && !c.stopped {
			return c
		}
	}
	return &w.contenders[id.contender()]
}

// Holding tells whether the state is one of a holder.
func (r request) Holding() bool { return r.State.Holding() }

// over tells whether all requests have ended and nothing is left of them.
func (w *world) over() bool {
	for i := range w.plan.Sessions {
		if !w.contenders[i].stopped {
			return false
		}
	}
	return w.zk.nodes.n == 0
}
