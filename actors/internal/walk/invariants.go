package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Invariant names what is to hold; the numbers are those by which the stories of violations name them.
type Invariant string

// The invariants.
const (
	// Exclusion: at no time do two contenders rely on the lock with valid leases, readers and those of one owner and the
	// permits of a semaphore aside.
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
	// Notices: what the owner is told makes sense. Lost is final; a grant or a resumption needs a valid lease.
	Notices Invariant = "8: Lost is final, a grant has a lease"
	// OneSession: no request that was decided on in one session is carried out in another.
	OneSession Invariant = "9: one session"
	// NeverImpossible: no event comes that the machine declares impossible.
	NeverImpossible Invariant = "no impossible event"
	// OwnInvariants: those that the coordinator states of its own state.
	OwnInvariants Invariant = "the coordinator's own invariants"
)

// relies tells whether the owner of a request may believe that it holds the lock. An operator who deletes a holder's node
// takes its lock away at once, which it learns later: that is his to know. But to whom the lock is handed within the session,
// without a node, the servers give nothing away before that one has been told.
func (w *world) relies(i int) bool {
	a := &w.actors[i]
	return a.begun && !a.stopped && (!a.broken || a.handed) && a.m.Holding() && w.unbroken(i)
}

// shares tells whether two requests may hold at the same time.
func (w *world) shares(i, j int) bool {
	p := w.plan
	return p.Modes[i] == messages.Read && p.Modes[j] == messages.Read || p.Modes[i] == messages.Semaphore ||
		p.Owners[i] != 0 && p.Owners[i] == p.Owners[j]
}

// checkHolders is invariant 1.
func (w *world) checkHolders() {
	permits := 0
	for i := range w.plan.Sessions {
		if !w.relies(i) {
			continue
		}
		permits++
		for holder := range i {
			if w.relies(holder) && !w.shares(i, holder) {
				w.violate(Exclusion, "%s and %s both hold the lock with valid leases", actorName(holder), actorName(i))
			}
		}
	}
	if w.plan.Modes[0] == messages.Semaphore && permits > w.plan.Permits {
		w.violate(Exclusion, "%d contenders hold %d permits with valid leases", permits, w.plan.Permits)
	}
}

// checkDelete is invariant 1 where a session deletes a node: nobody may rely on it.
func (w *world) checkDelete(name string) {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.m.Node == name && w.relies(i) && a.m.State != messages.StateNone {
			if at := w.servers.at(name); at >= 0 && w.servers.nodes[at].session == w.plan.Sessions[i] {
				w.violate(Exclusion, "%v is deleted, while %s holds with it", name, actorName(i))
			}
		}
	}
}

// checkNotice is invariants 2, 6 and 8, where a notice is sent.
func (w *world) checkNotice(i int, do machine.Do) {
	a := &w.actors[i]
	legal := true
	switch do {
	case machine.TellHeld:
		s := w.plan.Sessions[i]
		legal = !a.toldHeld && !a.toldOver && a.epoch == w.epoch(s) && w.sessions[s].lease && a.m.Node != ""
		a.toldHeld = true
		w.checkGrant(i)
	case machine.TellSuspended:
		legal = a.toldHeld && !a.toldOver && !a.toldSuspended
		a.toldSuspended = true
	case machine.TellResumed:
		legal = a.toldHeld && !a.toldOver && a.toldSuspended && w.unbroken(i)
		a.toldSuspended = false
	case machine.TellRevokeRequested:
		legal = a.toldHeld && !a.toldOver
	case machine.TellRevoked, machine.TellLost:
		legal = a.toldHeld && !a.toldOver
		a.toldOver = true
	case machine.TellReleased:
		legal = a.toldHeld
		a.toldOver = true
	case machine.TellCancelled:
		legal = !a.toldHeld
		a.toldOver = true
	case machine.TellFailed:
		a.toldOver = true
	}
	w.note("%s: %v", actorName(i), do)
	if !legal {
		w.violate(Notices, "%s: %v must not be told now", actorName(i), do)
	}
}

func (w *world) checkGrant(i int) {
	a, mode := &w.actors[i], w.plan.Modes[i]
	if a.broken {
		return // granted to a node that the operator has deleted meanwhile, as relies says
	}
	if shared := w.sharesHold(i); !shared && mode != messages.Semaphore {
		if a.m.Token <= w.newest {
			w.violate(TokensRise, "%s is granted the lock with token %v after a grant with token %v", actorName(i), a.m.Token, w.newest)
		}
		if mode != messages.Read { // readers are granted in any order
			w.newest = a.m.Token
		}
	}
	at := w.servers.at(a.m.Node)
	if at < 0 || mode == messages.Semaphore || mode == messages.Contest {
		return // it has just gone, and this request will hear of it; or another rule says who holds
	}
	for _, n := range w.servers.nodes[:at] {
		before, _ := queue.Parse(n.name)
		if queue.WaitsFor(mode, before.Mode) && !w.handsOver(n, i) {
			w.violate(InOrder, "%s is granted the lock while %v is before it", actorName(i), n.name)
		}
	}
}

// sharesHold tells whether a request goes on with the hold of another of its owner.
func (w *world) sharesHold(i int) bool {
	for j := range w.plan.Sessions {
		if j != i && w.plan.Owners[i] != 0 && w.plan.Owners[i] == w.plan.Owners[j] && w.actors[j].m.Token == w.actors[i].m.Token {
			return true
		}
	}
	return false
}

// handsOver tells whether those who had a node that is before a request's in the queue have given the lock back within their
// session, or are of its owner; the node is still to be deleted.
func (w *world) handsOver(before node, i int) bool {
	for j := range w.plan.Sessions {
		a := &w.actors[j]
		if !a.begun || j == i || guid(j) != before.guid && a.m.Node != before.name {
			continue
		}
		gaveBack := !a.m.Holding() && a.m.Ending == messages.StateReleased
		sameOwner := w.plan.Owners[i] != 0 && w.plan.Owners[i] == w.plan.Owners[j]
		if w.plan.Sessions[j] != w.plan.Sessions[i] || !gaveBack && !a.stopped && !sameOwner {
			return false
		}
	}
	return true
}

// checkEnd is invariant 3 at the moment at which a request says that it has ended. What the session was told to settle, and
// what the servers are about to delete, goes later.
func (w *world) checkEnd(i int, effects []machine.Effect) {
	settled := slices.ContainsFunc(effects, func(e machine.Effect) bool { return e.Do == machine.CleanUp || e.Do == machine.Halt })
	s := w.sessionOf(i)
	if settled || s.ending || !s.alive || w.plan.Sticky[i] || w.plan.Owners[i] != 0 {
		return // what is sticky the session deletes later, what is shared the last
	}
	for _, n := range w.servers.nodes {
		if n.guid == guid(i) && !n.doomed {
			w.violate(NoOrphan, "%s says that it has ended, but there is %v", actorName(i), n.name)
		}
	}
}

// checkQuiet is invariants 3, 4 and 7, in a state in which nothing will happen unless somebody wants something, or something
// goes wrong. Polls do not count: they are a net under the watches.
func (w *world) checkQuiet() {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.begun && a.m.Ending != messages.StateNone && !a.stopped {
			w.violate(AllEnd, "nothing is under way, but %s, which is to end, is %v", actorName(i), a.m.State)
		}
	}
	names := w.shownAll()
	for at, n := range w.servers.nodes {
		user := w.user(n)
		switch kept := w.retained(n.name); {
		case kept && (len(w.servers.nodes) > at+1 || n.wanted):
			w.violate(NoLostWakeUp, "nothing is under way, and %v is retained, but somebody wants the lock", n.name)
		case kept:
		case user < 0:
			w.violate(NoOrphan, "nothing is under way, but there is %v, which nobody knows", n.name)
		case w.plan.Modes[user] == messages.Contest:
			if !w.actors[user].m.State.Holding() {
				w.violate(NoLostWakeUp, "nothing is under way, and %v is there, but its request is %v", n.name, w.actors[user].m.State)
			}
		default:
			if place, shown := queue.Find(names, n.name, w.plan.Permits); shown && place.Before == 0 && !w.actors[user].m.State.Holding() {
				w.violate(NoLostWakeUp, "nothing is under way, and %v has nobody to wait for, but its request is %v",
					n.name, w.actors[user].m.State)
			}
		}
	}
	for i := range w.plan.Sessions {
		a := &w.actors[i]
		if w.plan.Modes[i] == messages.Contest && len(w.servers.nodes) == 0 && a.begun && !a.stopped {
			w.violate(NoLostWakeUp, "nothing is under way, and there is no node, but %s is %v", actorName(i), a.m.State)
		}
	}
}

func (w *world) shownAll() (names []string) {
	for _, n := range w.servers.nodes {
		names = append(names, n.name)
	}
	return names
}

// retained tells whether a node is kept for who comes next.
func (w *world) retained(name string) bool {
	for s := range w.sessions {
		if sess := &w.sessions[s]; !sess.ending && sess.decides.Retains(lockPath, name) {
			return true
		}
	}
	return false
}

// user gives a request that has a node; -1 for none.
func (w *world) user(n node) int {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.begun && !a.stopped && a.m.Node == n.name && w.plan.Sessions[i] == n.session {
			return i
		}
	}
	return -1
}

// over tells whether all requests have ended and nothing is left of them.
func (w *world) over() bool {
	for i := range w.plan.Sessions {
		if !w.actors[i].stopped {
			return false
		}
	}
	return len(w.servers.nodes) == 0
}
