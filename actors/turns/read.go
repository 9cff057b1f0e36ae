package turns

import "github.com/turnstile-locks/turnstile/messages"

// State gives the state of a call, in the words of a request: creating until its hold has waited,
// watching while it waits, held, revoking, and recovering while its hold is suspended. It is
// StateNone for a call that has ended.
func (t *Turns) State(id CallID) messages.State {
	c := t.call(id)
	switch {
	case c == nil:
		return messages.StateNone
	case !c.has():
		if c.hold != nil && c.hold.before < 0 {
			return messages.StateCreating
		}
		return messages.StateWatching
	case c.hold.link == suspended:
		return messages.StateRecovering
	case c.phase == revoking:
		return messages.StateRevoking
	}
	return messages.StateHeld
}

// Standing says where a call stands.
type Standing struct {
	Call  CallID
	Hold  HoldID // that it has, or that was asked for it; 0 for none
	Want  *Want
	State messages.State
}

// Inside lists the calls of a queue: those that hold, then those that wait, line by line, each in
// order. It is for searches for deadlocks and for pages.
func (t *Turns) Inside(key Key) (all []Standing) {
	q := t.queues[key]
	if q == nil {
		return nil
	}
	list := func(l calls) {
		for c := l.first; c != nil; c = c.next {
			s := Standing{Call: c.id, Want: c.want, State: t.State(c.id)}
			if c.hold != nil {
				s.Hold = c.hold.id
			}
			all = append(all, s)
		}
	}
	for _, h := range t.holds {
		if h.phase != gone && h.line.queue == q {
			list(h.users)
		}
	}
	for _, l := range q.lines {
		list(l.waiting)
	}
	list(q.awaiting)
	return all
}
