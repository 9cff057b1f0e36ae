package walk

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// The shell of turns: it tells them what lock actors tell, and carries out what they decide. A lock
// actor that they ask for, and what they command one, comes into its mailbox.

// tick is how long time passes at once: longer than a rest, which is a sixth of the session timeout,
// and so longer than the time of a hold.
const tick = sessionTimeout / 5

// tellTurns gives the turns of a session an input, and carries out what they decide. The turns of
// other states stay as they are.
func (w *world) tellTurns(s int, in told) {
	sess := &w.sessions[s]
	in.at, in.lease = w.at, reading{w.epoch(s), sess.term, sess.lease}
	if w.mistake.TurnsHear == nil {
		w.turnsHear(s, in)
		return
	}
	for _, in := range w.mistake.TurnsHear(w, s, in) {
		w.turnsHear(s, in)
	}
}

func (w *world) turnsHear(s int, in told) {
	c := &w.clients[s]
	if w.telling {
		w.note("the turns of %s hear %s", sessionName(s), inputNames[in.what])
	}
	if !w.told[s] {
		c.turns, w.told[s] = c.heard.again(), true
	}
	c.heard = &heard{in, c.heard}
	defer func() {
		if r := recover(); r != nil {
			w.violate(CallNotices, "turns panic: %v", r)
		}
	}()
	if id := in.tell(c.turns); id != 0 {
		w.calls[w.coming].id = id
	}
	outputs := c.turns.Take()
	if w.mistake.TurnsDecide != nil {
		outputs = w.mistake.TurnsDecide(w, s, append([]turns.Output(nil), outputs...))
	}
	for _, o := range outputs {
		w.decided(s, o)
	}
}

// callOf gives a call of a session by its ID, holderOf the lock actor of a hold; -1 for none.
func (w *world) callOf(s int, id turns.CallID) int {
	for k := range w.plan.Calls {
		if c := &w.calls[k]; w.plan.Calls[k].Session == s && c.id == id && c.phase != toCome && c.phase != callEnded {
			return k
		}
	}
	return -1
}

func (w *world) holderOf(s int, id turns.HoldID) int {
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && a.lives() && a.asked.call != 0 && a.asked.hold == id && !a.asked.ended {
			return i
		}
	}
	return -1
}

// decided carries out an output of turns. What is about a call or a hold that has ended is void, as
// in the shell.
func (w *world) decided(s int, o turns.Output) {
	i, k := w.holderOf(s, o.Hold), w.callOf(s, o.Call)
	switch o.Do {
	case turns.Ask:
		if k >= 0 {
			w.ask(s, k, o)
		}
		return
	case turns.Grant, turns.Refuse, turns.Tell:
		if k >= 0 {
			w.tellCall(k, i, o)
		}
		return
	case turns.SetTimer:
		switch {
		case o.Hold == 0 && k >= 0:
			w.calls[k].due = o.Deadline
		case i >= 0:
			w.actors[i].asked.due = o.Deadline
		}
		return
	}
	if i < 0 {
		return
	}
	switch o.Do {
	case turns.Cancel:
		w.order(i, machine.Cancel)
	case turns.Release:
		w.order(i, machine.Release)
	case turns.Check:
		w.order(i, machine.Check)
	case turns.WatchContention:
		w.order(i, machine.WatchContention)
	}
}

// order puts a command into the mailbox of a lock actor.
func (w *world) order(i int, of machine.Kind) {
	a := &w.actors[i]
	if of == machine.Cancel || of == machine.Release {
		a.asked.leaves = true
		w.checkLeaves(i)
	}
	if w.telling {
		w.note("%s is to hear %v", actorName(i), of)
	}
	a.inbox = with(a.inbox, envelope{event: machine.Event{Kind: of}})
}

// ask begins the next lock actor of a session, as a call wants it.
func (w *world) ask(s, k int, o turns.Output) {
	for i, of := range w.plan.Sessions {
		a := &w.actors[i]
		if of != s || a.life != unasked {
			continue
		}
		a.asked = askedFor{call: uint8(k + 1), hold: o.Hold, try: o.Try, shared: o.Shared}
		if o.Beside != 0 {
			writer := w.holderOf(s, o.Beside)
			a.asked.beside, a.beside = uint8(writer+1), w.actors[writer].m.Node
		}
		w.suit(i)
		a.life, a.m = asked, machine.New(w.specs[i].Want)
		a.inbox = with(a.inbox, envelope{event: machine.Event{Kind: machine.Begin}})
		if w.telling {
			w.note("call %d asks for %s", k+1, actorName(i))
		}
		return
	}
	w.short = true
}

// tellCall has a call hear that it holds, or what has become of its hold, or that it is refused.
func (w *world) tellCall(k, i int, o turns.Output) {
	c := &w.calls[k]
	if w.telling {
		w.note("call %d: %s", k+1, saying(o))
	}
	switch {
	case o.Do == turns.Grant:
		w.checkCallGrant(k, i, o.Token)
		if i < 0 {
			return
		}
		a := &w.actors[i]
		c.phase, c.on, c.epoch, c.term, c.due = hasHold, uint8(i+1), a.held, a.term, 0
		a.asked.granted = true
	case o.Do == turns.Refuse:
		w.checkCallRefusal(k, o.Reason)
		w.endCall(k)
	case o.State == messages.StateRevoking:
		w.checkTold(k)
		c.phase = isAsked
	case o.State.Terminal():
		w.checkTold(k)
		w.endCall(k)
	default:
		w.checkTold(k)
	}
}

func saying(o turns.Output) string {
	switch o.Do {
	case turns.Grant:
		return fmt.Sprintf("it holds, with token %v", o.Token)
	case turns.Refuse:
		return "it is refused: " + string(o.Reason)
	}
	return "it is " + o.State.String()
}

// endCall ends a call. Its hold was in use until now.
func (w *world) endCall(k int) {
	c := &w.calls[k]
	if c.has() {
		w.actors[c.on-1].asked.sure = w.at
	}
	*c = call{phase: callEnded}
}

// hearsNotice tells turns what a lock actor tells.
func (w *world) hearsNotice(i int, do machine.Do, ev machine.Event) {
	a := &w.actors[i]
	in := told{hold: a.asked.hold}
	switch do {
	case machine.TellWaiting:
		in.what, in.n = inWaiting, ev.Before
	case machine.TellHeld:
		a.asked.sure = w.at
		in.what = inHeld
		in.timeout = sessionTimeout
		in.held = messages.Held{Grant: messages.Grant{Token: a.m.Token}, Places: a.m.Places, Epoch: a.held, Term: a.term}
	case machine.TellWatched:
		a.asked.watched = true
		in.what = inWatched
	case machine.TellChecked:
		a.asked.sure = w.at
		in.what = inChecked
	case machine.TellContended:
		in.what = inContended
	case machine.TellSuspended:
		a.asked.watched = false
		in.what = inSuspended
	case machine.TellResumed:
		in.what = inResumed
	case machine.TellRevokeRequested:
		in.what = inRevoke
	case machine.TellReleased:
		in.what = inGone
	case machine.TellLost:
		in.what = inLost
	case machine.TellCancelled, machine.TellFailed:
		in.what = inRefused
	default:
		return
	}
	in.why = a.m.Reason
	w.tellOfHold(i, in)
}

// tellOfHold gives turns an input about a hold. Where it is the end of it, its calls are told; what
// turns do about other holds comes after that.
func (w *world) tellOfHold(i int, in told) {
	switch a := &w.actors[i]; in.what {
	case inGone, inLost, inRefused:
		a.asked.ended, a.asked.due = true, 0
	}
	w.tellTurns(w.plan.Sessions[i], in)
}

// endsUntold tells turns of the end of a lock actor that has told none: it was stopped.
func (w *world) endsUntold(i int, held bool) {
	if a := &w.actors[i]; a.asked.call != 0 && !a.asked.ended {
		in := told{what: inRefused, hold: a.asked.hold, why: messages.ReasonStopped}
		if held {
			in.what = inLost
		}
		w.tellOfHold(i, in)
	}
}

// termOver tells the turns of a session, from the lease clock, that the lease of their holds is over. Their lock actors hear
// of it later.
func (w *world) termOver(s int) {
	if !w.plan.ClockTells {
		return
	}
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && a.lives() && a.asked.call != 0 && !a.asked.ended && a.is.any(toldHeld) && !w.unbroken(i) {
			w.tellOfHold(i, told{what: inLost, hold: a.asked.hold, why: messages.ReasonLeaseOver})
		}
	}
}

// fireTimers fires the timers of turns that are due.
func (w *world) fireTimers() {
	for i, s := range w.plan.Sessions {
		if a := &w.actors[i]; a.asked.due != 0 && a.asked.due <= w.at {
			a.asked.due = 0
			w.tellTurns(s, told{what: inHoldTimer, hold: a.asked.hold})
		}
	}
	for k := range w.plan.Calls {
		if c := &w.calls[k]; c.due != 0 && c.due <= w.at {
			c.due = 0
			w.tellTurns(w.plan.Calls[k].Session, told{what: inCallTimer, call: c.id})
		}
	}
}

// beginClients begins a plan with calls.
func (w *world) beginClients() {
	if w.plan.Calls == nil {
		return
	}
	w.at = time.Minute
	w.asked = map[askedSpec]*coordinator.Spec{}
	for k := range w.plan.Calls {
		w.wants = append(w.wants, w.plan.Calls[k].want())
	}
	w.suited = *w.base
	w.plan = &w.suited
}

// want gives the Want of a call.
func (c *Call) want() *turns.Want {
	w := &turns.Want{Sticky: c.Sticky, Cohort: c.Cohort, Reentry: c.Reentry}
	w.Path, w.Mode, w.Name, w.Grace, w.Try = lockPaths[c.Path], c.Mode, c.Name, c.Grace, c.Try
	return w
}
