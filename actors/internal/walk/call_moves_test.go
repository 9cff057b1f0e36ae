package walk

import "github.com/turnstile-locks/turnstile/messages"

// The moves of callers, and of clients. To add one, add a row.

// ofCallers are the moves of a call.
var ofCallers = []kind{
	{text: "calls", class: owed, can: mayCall, do: doCall},
	{text: "does not wait any longer", bound: Quits, can: callIs(inLine), do: leave(inWithdraw)},
	{text: "gives back", class: owed, can: callHolds, do: leave(inGiveBack)},
	{text: "reaches the end of its grace period", class: owed, can: hasGrace, do: endOfGrace},
}

// ofClients are the moves of a client.
var ofClients = []kind{
	{text: "lets time pass", bound: Ticks, can: lastCaller, do: passTime},
	{text: "is closed", class: owed, can: mayClose, do: closeClient},
}

func callIs(in callPhase) func(*world, int) ways {
	return func(w *world, k int) ways { return once(w.calls[k].phase == in) }
}

func callHolds(w *world, k int) ways { return once(w.calls[k].has()) }

// mayCall: the calls of a session come in order. One within a lease comes while that is held, or not at all.
func mayCall(w *world, k int) ways {
	if w.calls[k].phase != toCome {
		return 0
	}
	for j := range k {
		if w.calls[j].phase == toCome && w.plan.Calls[j].Session == w.plan.Calls[k].Session {
			return 0
		}
	}
	within := w.plan.Calls[k].Within
	return once(within == 0 || w.calls[within-1].has() || w.calls[within-1].phase == callEnded)
}

func doCall(w *world, k, _ int) {
	wish, c := &w.plan.Calls[k], &w.calls[k]
	in := told{what: inCall, want: w.wants[k]}
	if wish.Within > 0 {
		lease := &w.calls[wish.Within-1]
		if lease.phase == callEnded {
			c.phase = callEnded
			return
		}
		in.call = lease.id
	}
	c.phase, w.coming = inLine, k
	w.tellTurns(wish.Session, in)
}

// leave has a call end, and turns hear of it.
func leave(as input) func(*world, int, int) {
	return func(w *world, k, _ int) {
		id := w.calls[k].id
		w.endCall(k)
		w.tellTurns(w.plan.Calls[k].Session, told{what: as, call: id})
	}
}

func hasGrace(w *world, k int) ways { return once(w.calls[k].phase == isAsked && w.calls[k].due != 0) }

func endOfGrace(w *world, k, _ int) {
	w.at = max(w.at, w.calls[k].due)
	w.fireTimers()
}

// lastCaller: time passes for all.
func lastCaller(_ *world, s int) ways { return once(s == 0) }

func passTime(w *world, _, _ int) {
	w.at += tick
	w.fireTimers()
}

// mayClose: a client is closed when it needs no lock any more, and still keeps one.
func mayClose(w *world, s int) ways {
	for k := range w.plan.Calls {
		if w.plan.Calls[k].Session == s && w.calls[k].phase != callEnded {
			return 0
		}
	}
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && a.lives() && a.asked.call != 0 && !a.asked.leaves && a.m.State == messages.StateHeld {
			return once(!w.clients[s].closed)
		}
	}
	return 0
}

func closeClient(w *world, s, _ int) {
	w.clients[s].closed = true
	w.tellTurns(s, told{what: inClose})
}
