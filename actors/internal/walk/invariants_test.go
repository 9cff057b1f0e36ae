package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// The invariants. Some are numbered as the promises in package locks are.
const (
	Exclusion       Invariant = "1: mutual exclusion"                   // readers, one owner and permits aside
	TokensRise      Invariant = "2: tokens rise"                        // strictly, in the order of grants
	NoOrphan        Invariant = "3: no orphan"                          // a request that has ended leaves no node
	NoLostWakeUp    Invariant = "4: no lost wake-up"                    // the head of the queue holds, once all is quiet
	EventsTell      Invariant = "5: events tell it"                     // a re-list finds nothing that was not told, semaphores aside
	InOrder         Invariant = "6: first in, first out"                // grants follow sequence numbers
	AllEnd          Invariant = "7: every request ends"                 // or can, after any history
	Notices         Invariant = "8: Lost is final, a grant has a lease" // and notices make sense in their order
	OneSession      Invariant = "9: one session"                        // no order of one is carried out in another
	NeverImpossible Invariant = "no impossible event"                   // as the machine declares
	OwnInvariants   Invariant = "the coordinator's own invariants"      // as Coordinator.Check states
	InPlan          Invariant = "the plan can be followed"              // the moves of Plan.After can be made

	// HoldersAreTold: a holder that has asked is told of other contenders, and of its node, while the connection stands; a
	// request that tells more is told Waiting and Watched. Nobody is told that a node exists which had gone before it asked.
	HoldersAreTold Invariant = "holders are told what they ask for"
	// PlacesAreOwn: no other node's token is one of the places behind a holder's that it may give.
	PlacesAreOwn Invariant = "places are the holder's own"

	// Bounded: a session has no more nodes at the servers, and no more that wait in one queue, than the plan allows for.
	Bounded Invariant = "a session's nodes are bounded"
	// Kept: no request is refused for want of room that had a node while it waited, contests aside.
	Kept Invariant = "who waits keeps its room"
)

// relies reports whether the owner of a request may believe that it holds the lock. An operator who deletes a holder's
// node takes its lock away at once, and the holder learns of it later: that is the operator's risk. But while the lock
// is handed over within a session, without a node, the servers give nothing away before the new holder has been told.
func (w *world) relies(i int) bool {
	a := &w.actors[i]
	return a.lives() && (!a.is.any(broken) || a.is.any(handed)) && a.m.Holding() && w.unbroken(i)
}

// checkHolders is invariant 1. It is looked at after every input of a coordinator and every event of a machine.
func (w *world) checkHolders() {
	permits, last, most := 0, -1, w.plan.Permits
	for i := range w.plan.Sessions {
		if !w.relies(i) {
			continue
		}
		permits++
		if at := w.servers.at(w.actors[i].m.Node); at > last {
			last, most = at, w.servers.nodes[at].most
		}
		for holder := range i {
			if w.relies(holder) && !w.plan.shares(i, holder) {
				w.violate(Exclusion, "%s and %s both hold the lock with valid leases", actorName(holder), actorName(i))
			}
		}
	}
	if w.plan.Modes[0] == messages.Semaphore && permits > most {
		w.violate(Exclusion, "%d contenders hold with valid leases, and since the last of them came there were %d permits", permits, most)
	}
	w.checkCalls()
}

// checkDelete is invariant 1 where a session deletes a node: nobody may rely on it.
func (w *world) checkDelete(name string) {
	at := w.servers.at(name)
	for i := range w.plan.Sessions {
		if at >= 0 && w.actors[i].m.Node == name && w.relies(i) && w.servers.nodes[at].session == w.plan.Sessions[i] {
			w.violate(Exclusion, "%v is deleted, while %s holds with it", name, actorName(i))
		}
	}
}

// checkNotice is invariants 2, 6 and 8, where a notice is sent.
func (w *world) checkNotice(i int, do machine.Do) {
	a, s := &w.actors[i], w.plan.Sessions[i]
	legal := a.is.any(toldHeld) && !a.is.any(toldOver)
	switch do {
	case machine.TellHeld:
		legal = !a.is.any(toldHeld|toldOver) && a.epoch == w.epoch(s) && w.sessions[s].lease && a.m.Node != ""
		a.is.put(toldHeld, true)
		a.is.put(owesWatched, w.plan.TellMore[i])
		w.checkGrant(i)
		w.checkTurn(i)
		w.checkPlaces(i)
	case machine.TellWaiting:
		legal = w.plan.TellMore[i] && !a.is.any(toldHeld|toldOver)
	case machine.TellWatched:
		legal = legal && a.is.any(owesWatched) && !a.is.any(toldSuspended)
		a.is.put(owesWatched, false)
	case machine.TellContended:
		legal = legal && a.is.any(attends) && !a.is.any(toldSuspended)
		a.is.put(attends, false)
	case machine.TellChecked:
		legal = legal && a.is.any(checks) && !a.is.any(toldSuspended)
		if a.is.any(checksNothing) {
			w.violate(HoldersAreTold, "%s is told that its node exists, which was gone when it asked", actorName(i))
		}
		a.is.put(checks, false)
	case machine.TellSuspended:
		legal = legal && !a.is.any(toldSuspended)
		a.is.put(toldSuspended, true)
		a.is.put(attends|checks|owesWatched, false)
	case machine.TellResumed:
		legal = legal && a.is.any(toldSuspended) && w.unbroken(i)
		a.is.put(toldSuspended, false)
		a.is.put(owesWatched, w.plan.TellMore[i])
	case machine.TellRevokeRequested:
		a.is.put(owesWatched, false) // nobody is granted anything with the hold any more
	case machine.TellRevoked, machine.TellLost:
		a.is.put(toldOver, true)
	case machine.TellReleased, machine.TellCancelled, machine.TellFailed:
		legal = do == machine.TellFailed || a.is.any(toldHeld) == (do == machine.TellReleased)
		a.is.put(toldOver, true)
	}
	if w.telling {
		w.note("%s: %v", actorName(i), do)
	}
	if !legal {
		w.violate(Notices, "%s: %v must not be told now", actorName(i), do)
	}
}

// checkGrant is invariants 2 and 6. A node that the operator has deleted meanwhile is granted to nobody's harm, as
// relies says.
func (w *world) checkGrant(i int) {
	a, mode, newest := &w.actors[i], w.plan.Modes[i], &w.newest[w.plan.queueOf(i)]
	if a.is.any(broken) || mode == messages.Semaphore {
		return
	}
	if !w.sharesHold(i) {
		if a.m.Token <= *newest {
			w.violate(TokensRise, "%s is granted the lock with token %v after %v", actorName(i), a.m.Token, *newest)
		}
		if mode != messages.Read { // readers are granted in any order
			*newest = a.m.Token
		}
	}
	if mode == messages.Contest { // there is no queue
		return
	}
	for _, n := range w.servers.nodes[:max(w.servers.at(a.m.Node), 0)] {
		before, _ := queue.Parse(n.name)
		if n.path == w.plan.Paths[i] && before.Name == w.plan.Names[i] && queue.WaitsFor(mode, before.Mode) && !n.back && !w.handsOver(n, i) {
			w.violate(InOrder, "%s is granted the lock while %v is before it", actorName(i), n.name)
		}
	}
}

// checkPlaces looks whether the places behind a holder's token are those of no other request that has a node.
func (w *world) checkPlaces(i int) {
	a := &w.actors[i]
	for j := range w.plan.Sessions {
		other := &w.actors[j]
		if j != i && other.life != unasked && w.plan.Paths[i] == w.plan.Paths[j] && w.inPlaces(a, other.m.Token) || w.inPlaces(other, a.m.Token) {
			w.violate(PlacesAreOwn, "%s has token %v and %d places, and %s token %v and %d places", actorName(i), a.m.Token,
				a.m.Places, actorName(j), other.m.Token, other.m.Places)
		}
	}
}

func (w *world) inPlaces(a *lockActor, token messages.Token) bool {
	return token > a.m.Token && token <= a.m.Token+messages.Token(a.m.Places)
}

// sharesHold reports whether a request has the token of the one beside whose node it has made its own.
func (w *world) sharesHold(i int) bool {
	for j := range w.plan.Sessions {
		if j != i && w.plan.beside(i, j) && w.actors[j].m.Token == w.actors[i].m.Token {
			return true
		}
	}
	return false
}

// handsOver reports whether the request of a node that is before another's in the queue has given the lock back within its
// session, or is the one beside it. The node is still to be deleted.
func (w *world) handsOver(before node, i int) bool {
	if before.forsaken { // of another session
		return false
	}
	for j := range w.plan.Sessions {
		a := &w.actors[j]
		if a.life == unasked || j == i || idOf(j) != before.id && a.m.Node != before.name {
			continue
		}
		gaveBack := a.life == stopped || !a.m.Holding() && a.m.Ending == messages.StateReleased
		if w.plan.Sessions[j] != w.plan.Sessions[i] || !gaveBack && !w.plan.beside(i, j) {
			return false
		}
	}
	return true
}

// checkEnd is invariant 3 at the moment at which a request says that it has ended. A node that the session was told to
// clean up, or that the servers are about to delete, goes later.
func (w *world) checkEnd(i int, effects []machine.Effect) {
	s := w.sessionOf(i)
	if s.closed || s.served != alive ||
		slices.ContainsFunc(effects, func(e machine.Effect) bool { return e.Do == machine.CleanUp || e.Do == machine.Halt }) {
		return
	}
	for _, n := range w.servers.nodes {
		if n.id == idOf(i) && !n.doomed && !n.forsaken && !n.orphan { // the session looks for orphans itself
			w.violate(NoOrphan, "%s says that it has ended, but there is %v", actorName(i), n.name)
		}
	}
}

// checkQuiet is invariants 3, 4 and 7, in a state in which nothing will happen unless somebody wants something, or
// something goes wrong. Polls do not count: they are a net under the watches.
func (w *world) checkQuiet() {
	var names [maxPaths][]string
	for _, n := range w.servers.nodes {
		names[n.path] = append(names[n.path], n.name)
	}
	w.checkQuietCalls()
	for i := range w.plan.Sessions {
		switch a := &w.actors[i]; {
		case !a.lives():
		case a.m.Ending != messages.StateNone:
			w.violate(AllEnd, "nothing is under way, but %s, which is to end, is %v", actorName(i), a.m.State)
		case w.sessionOf(i).up && a.m.State.Holding() && a.is.any(checks|owesWatched):
			w.violate(HoldersAreTold, "nothing is under way, but %s is told nothing of its node", actorName(i))
		case w.plan.TellMore[i] && a.m.State == messages.StateWatching && a.m.Node != "" && !a.m.Counted:
			w.violate(HoldersAreTold, "nothing is under way, but %s is not told how many are before it", actorName(i))
		case w.plan.Modes[i] == messages.Contest && len(names[w.plan.Paths[i]]) == 0:
			w.violate(NoLostWakeUp, "nothing is under way, and there is no node, but %s is %v", actorName(i), a.m.State)
		}
	}
	for _, n := range w.servers.nodes {
		w.checkQuietNode(n, slices.DeleteFunc(slices.Clone(names[n.path]), func(other string) bool { return queueName(other) != queueName(n.name) }))
	}
	for _, g := range w.servers.guards {
		if s := &w.sessions[g.session]; !s.closed && s.served == alive && g.epoch == w.epoch(g.session) {
			w.violate(NoOrphan, "nothing is under way, but there is the guard of the node that was made at %d", g.czxid)
		}
	}
}

// checkQuietNode is invariants 3 and 4 for one node.
func (w *world) checkQuietNode(n node, names []string) {
	user := w.user(n)
	switch {
	case user >= 0 && w.sessionOf(user).up && w.actors[user].m.State.Holding() && w.actors[user].is.any(attends) && names[len(names)-1] != n.name:
		w.violate(HoldersAreTold, "nothing is under way, and others stand behind %v, but its holder is not told", n.name)
	case user < 0 && n.back: // a request that waits for it looks again, and finds it
		return
	case user < 0:
		w.violate(NoOrphan, "nothing is under way, but there is %v, which nobody knows", n.name)
		return
	case w.plan.Modes[user] != messages.Contest:
		if position, shown := queue.Find(names, n.name, w.servers.permits); !shown || position.Before > 0 {
			return
		}
	}
	if !w.actors[user].m.State.Holding() {
		w.violate(NoLostWakeUp, "nothing is under way, and %v has nobody to wait for, but its request is %v",
			n.name, w.actors[user].m.State)
	}
}

// user gives a request that has a node; -1 for none.
func (w *world) user(n node) int {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.lives() && a.m.Node == n.name && w.plan.Sessions[i] == n.session {
			return i
		}
	}
	return -1
}

// over reports whether all requests have ended and nothing is left of them.
func (w *world) over() bool {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.life != stopped && !(a.life == unasked && w.plan.ofCalls(i)) {
			return false
		}
	}
	for s := range w.sessions {
		if len(w.sessions[s].sent) > 0 {
			return false
		}
	}
	for k := range w.plan.Calls {
		if w.calls[k].phase != callEnded {
			return false
		}
	}
	return !slices.ContainsFunc(w.servers.nodes, func(n node) bool { return !n.back })
}

// checkTurn looks whether a lock is granted in the order of the session's requests, where the plan promises that.
func (w *world) checkTurn(i int) {
	if !w.plan.InTurn {
		return
	}
	for j := range i {
		a := &w.actors[j]
		if a.lives() && w.plan.Sessions[j] == w.plan.Sessions[i] && w.plan.Paths[j] == w.plan.Paths[i] &&
			!a.is.any(toldHeld) && a.m.Ending == messages.StateNone {
			w.violate(InOrder, "%s is granted the lock before %s, which came first", actorName(i), actorName(j))
		}
	}
}
