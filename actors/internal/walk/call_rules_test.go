package walk

import (
	"reflect"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// The invariants of calls. They are looked at here by the states of machines and the servers' nodes,
// and not by what turns know.

const (
	// CallsExclude: at most one call of a queue has an exclusive hold, and none beside it that reads, of all sessions.
	// Calls of one owner do not count; nor does, among clients, one whose node an operator has deleted, or whose lease is over.
	CallsExclude Invariant = "calls exclude one another"
	// CallTokens: tokens of calls rise, and no two calls of a lock path have one, but for those that share a hold.
	CallTokens Invariant = "tokens of calls rise"
	// CallsInOrder: calls of equal wish are granted in the order in which they came.
	CallsInOrder Invariant = "calls of equal wish come in order"
	// GrantsAreSound: a call is granted a hold that is held, not suspended and not revoked, in its lease; from the second
	// grant on with its own watch, and after a rest with a check.
	GrantsAreSound Invariant = "a grant needs what it needs"
	// NoCallForgotten: a call that waits has a hold that waits or is held, no hold waits without a call, and none is kept that
	// nobody may have.
	NoCallForgotten Invariant = "no call is forgotten"
	// CallNotices: a call is granted or refused once, while it waits, and told of a hold while it has one. Turns do not panic.
	CallNotices Invariant = "what calls are told makes sense"
)

// ofCalls reports whether turns ask for a request of the plan.
func (p *Plan) ofCalls(i int) bool {
	for k := range p.Calls {
		if p.Calls[k].Session == p.Sessions[i] {
			return true
		}
	}
	return false
}

// callOwner gives the first call of those within which one is made.
func (p *Plan) callOwner(k int) int {
	for p.Calls[k].Within > 0 {
		k = p.Calls[k].Within - 1
	}
	return k
}

// believes reports whether the caller of a call may believe that it holds.
func (w *world) believes(k int) bool {
	c := &w.calls[k]
	if !c.has() {
		return false
	}
	s := w.plan.Calls[k].Session
	sess, a := &w.sessions[s], &w.actors[c.on-1]
	return !a.is.any(broken) && sess.lease && sess.term == c.term && w.epoch(s) == c.epoch
}

// checkCalls is CallsExclude.
func (w *world) checkCalls() {
	for k := range w.plan.Calls {
		if !w.calls[k].has() {
			continue
		}
		for j := range k {
			a, b := &w.plan.Calls[k], &w.plan.Calls[j]
			both := w.calls[j].has() && (a.Session == b.Session || w.believes(k) && w.believes(j))
			if both && a.sameQueue(b) && (a.Mode != messages.Read || b.Mode != messages.Read) &&
				w.plan.callOwner(k) != w.plan.callOwner(j) {
				w.violate(CallsExclude, "calls %d and %d both hold the lock", j+1, k+1)
			}
		}
	}
}

// sharesWith gives a call of the same owner that has a hold; -1 for none.
func (w *world) sharesWith(k, i int) int {
	for j := range w.plan.Calls {
		if c := &w.calls[j]; j != k && c.has() && int(c.on) == i+1 && w.plan.callOwner(j) == w.plan.callOwner(k) {
			return j
		}
	}
	return -1
}

// inUse reports whether a call has the hold of a lock actor.
func (w *world) inUse(i int) bool {
	for k := range w.plan.Calls {
		if c := &w.calls[k]; c.has() && int(c.on) == i+1 {
			return true
		}
	}
	return false
}

// checkCallGrant checks that a call may be granted the hold of a lock actor.
func (w *world) checkCallGrant(k, i int, token messages.Token) {
	wish := &w.plan.Calls[k]
	switch {
	case w.calls[k].phase != inLine:
		w.violate(CallNotices, "call %d is granted, and does not wait", k+1)
		return
	case i < 0:
		w.violate(GrantsAreSound, "call %d is granted a hold that has ended", k+1)
		return
	}
	a, wrong := &w.actors[i], ""
	shares := w.sharesWith(k, i) >= 0
	switch {
	case !a.m.State.Holding(): // recovering, where it is suspended
		wrong = a.m.State.String()
	case a.m.State == messages.StateRevoking && !shares:
		wrong = "asked for by somebody"
	case a.asked.leaves:
		wrong = "given back already"
	case !w.unbroken(i):
		wrong = "of a lease that is over"
	case shares:
	case !wish.sameWish(&w.plan.Calls[a.asked.call-1]):
		wrong = "for another wish"
	case a.asked.granted && !a.asked.watched:
		wrong = "not watched"
	case a.asked.granted && !w.inUse(i) && w.at-a.asked.sure >= sessionTimeout/6:
		wrong = "not checked after a rest"
	}
	if wrong != "" {
		w.violate(GrantsAreSound, "call %d is granted the hold of %s, which is %s", k+1, actorName(i), wrong)
	}
	if shares {
		return
	}
	w.checkCallTurn(k, i)
	w.checkCallToken(k, i, token)
}

// checkCallTurn is CallsInOrder, and that a reader that came behind a call which excludes it is not let in.
func (w *world) checkCallTurn(k, i int) {
	wish := &w.plan.Calls[k]
	for j := range k {
		before := &w.plan.Calls[j]
		if w.calls[j].phase != inLine || before.Within != 0 || before.Session != wish.Session || !before.sameQueue(wish) || before.Try {
			continue
		}
		switch {
		case wish.Within == 0 && before.sameWish(wish):
			w.violate(CallsInOrder, "call %d is granted before call %d", k+1, j+1)
		case wish.Within == 0 && wish.Mode == messages.Read && before.Mode != messages.Read && w.inUse(i):
			w.violate(CallsInOrder, "call %d is let in with readers, and call %d waits", k+1, j+1)
		}
	}
}

// checkCallToken is CallTokens. What was granted with a node that an operator has deleted meanwhile counts within its client.
func (w *world) checkCallToken(k, i int, token messages.Token) {
	w.checkRises(k, token, &w.own[w.plan.Calls[k].Session][w.plan.queueOf(i)])
	if w.actors[i].is.any(broken) {
		return
	}
	w.checkRises(k, token, &w.granted[w.plan.queueOf(i)])
	for j := range w.plan.Sessions {
		if b := &w.actors[j]; j != i && b.life != unasked && w.plan.Paths[i] == w.plan.Paths[j] && token == b.m.Token && !w.plan.beside(i, j) {
			w.violate(CallTokens, "call %d has token %v, which is that of %s", k+1, token, actorName(j))
		}
	}
}

func (w *world) checkRises(k int, token messages.Token, top *tops) {
	reads := w.plan.Calls[k].Mode == messages.Read
	if !reads && token <= top.any || token < top.alone {
		w.violate(CallTokens, "call %d is granted the lock with token %v after %v", k+1, token, top.any)
	}
	if top.any = max(top.any, token); !reads {
		top.alone = token
	}
}

// checkCallRefusal: a call is refused that waits, and only one that tries, or for what it wants itself,
// unless somebody else has ended its lock actor.
func (w *world) checkCallRefusal(k int, why messages.Reason) {
	wish := &w.plan.Calls[k]
	legal := w.calls[k].phase == inLine
	switch why {
	case messages.ReasonNotAcquired:
		legal = legal && wish.Try
	case messages.ReasonReentry, messages.ReasonUpgrade, messages.ReasonHoldGone:
		legal = legal && wish.Within > 0
	case messages.ReasonStopped, messages.ReasonSessionClosed:
	default:
		legal = false
	}
	if !legal {
		w.violate(CallNotices, "call %d is refused: %s", k+1, why)
	}
}

// checkTold: only a call that has a hold is told what becomes of it.
func (w *world) checkTold(k int) {
	if !w.calls[k].has() {
		w.violate(CallNotices, "call %d is told of a hold, and has none", k+1)
	}
}

// checkLeaves: a hold is not given back while a call has it.
func (w *world) checkLeaves(i int) {
	if w.inUse(i) {
		w.violate(NoCallForgotten, "%s is to end, and a call has its hold", actorName(i))
	}
}

// checkQuietCalls is NoCallForgotten, where all is quiet.
func (w *world) checkQuietCalls() {
	for k := range w.plan.Calls {
		if c := &w.calls[k]; c.phase == inLine && !w.awaitsOwner(k) && !w.served(k) {
			w.violate(NoCallForgotten, "nothing is under way, and call %d waits for no hold", k+1)
		}
	}
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.lives() && a.asked.call != 0 {
			w.checkQuietHold(i)
		}
	}
	for s := range w.clients {
		if n := w.queuesOf(s); n > 0 && !w.busy(s) {
			w.violate(NoCallForgotten, "all is over, and the turns of %s remember %d queues", sessionName(s), n)
		}
	}
}

// queuesOf gives the number of queues that the turns of a session have.
func (w *world) queuesOf(s int) int {
	t := w.clients[s].turns
	if t == nil {
		return 0
	}
	return reflect.ValueOf(t).Elem().FieldByName("queues").Len()
}

// busy reports whether a call or a lock actor of a session is there.
func (w *world) busy(s int) bool {
	for i, of := range w.plan.Sessions {
		if of == s && w.actors[i].lives() {
			return true
		}
	}
	for k := range w.plan.Calls {
		if c := &w.calls[k]; w.plan.Calls[k].Session == s && c.phase != toCome && c.phase != callEnded {
			return true
		}
	}
	return false
}

// awaitsOwner reports whether another call of the same owner is decided first.
func (w *world) awaitsOwner(k int) bool {
	for j := range w.plan.Calls {
		if c := &w.calls[j]; j != k && w.plan.callOwner(j) == w.plan.callOwner(k) && c.phase == inLine {
			return true
		}
	}
	return false
}

// served reports whether a lock actor is there that may serve a call.
func (w *world) served(k int) bool {
	for i := range w.plan.Sessions {
		a := &w.actors[i]
		if a.lives() && a.asked.call != 0 && !a.asked.leaves && w.plan.Calls[k].sameWish(&w.plan.Calls[a.asked.call-1]) {
			return true
		}
	}
	return false
}

func (w *world) checkQuietHold(i int) {
	a := &w.actors[i]
	wish, s := &w.plan.Calls[a.asked.call-1], w.plan.Sessions[i]
	alike, sameQueue, last, others := 0, 0, true, 0 // others: calls that the other holds that wait may serve
	for k := range w.plan.Calls {
		if c := &w.plan.Calls[k]; w.calls[k].phase == inLine && c.Session == s && c.sameQueue(wish) {
			if sameQueue++; c.sameWish(wish) {
				alike++
			}
		}
	}
	for j, of := range w.plan.Sessions {
		b := &w.actors[j]
		if of == s && j != i && b.lives() && b.asked.call != 0 && !b.asked.leaves && !b.m.Holding() && w.plan.Calls[b.asked.call-1].sameWish(wish) {
			last = last && j < i
			if others++; !b.asked.try && wish.Mode != messages.Read { // readers have several lines
				others += max(wish.Cohort, 1) - 1
			}
		}
	}
	switch {
	case a.asked.leaves && a.m.Ending == messages.StateNone:
		w.violate(NoCallForgotten, "nothing is under way, but %s, which is to end, is %v", actorName(i), a.m.State)
	case a.asked.leaves:
	case a.asked.ended:
		w.violate(NoCallForgotten, "nothing is under way, but %s, which turns take for ended, is %v", actorName(i), a.m.State)
	case !a.m.Holding() && last && others >= alike:
		w.violate(NoCallForgotten, "nothing is under way, and %s waits, but no call wants it", actorName(i))
	case !a.m.Holding() || w.inUse(i):
	case wish.Sticky == 0 || wish.Mode != messages.Exclusive || w.clients[s].closed || a.m.State != messages.StateHeld:
		w.violate(NoCallForgotten, "nothing is under way, and no call has the hold of %s", actorName(i))
	case w.at-a.asked.sure >= wish.Sticky:
		w.violate(NoCallForgotten, "nothing is under way, and %s is kept for too long", actorName(i))
	case sameQueue > 0:
		w.violate(NoCallForgotten, "nothing is under way, and %s is kept, but %d calls wait", actorName(i), sameQueue)
	case w.othersQueue(i):
		w.violate(NoCallForgotten, "nothing is under way, and %s is kept, but others queue", actorName(i))
	}
}

// othersQueue reports whether there is another node in the queue of a request.
func (w *world) othersQueue(i int) bool {
	own := w.actors[i].m.Node
	for n := range w.servers.nodes {
		if n := &w.servers.nodes[n]; n.name != own && n.path == w.plan.Paths[i] && queueName(n.name) == w.plan.Names[i] {
			return true
		}
	}
	return false
}

// queueName gives the name of the queue of a contender's node.
func queueName(node string) string {
	e, _ := queue.Parse(node)
	return e.Name
}
