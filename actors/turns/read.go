package turns

import "github.com/turnstile-locks/turnstile/messages"

// State gives the state of a call: creating until its hold has waited, watching while it waits,
// held, revoking, recovering while its hold is suspended; StateNone after its end.
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

// WithoutNode counts the calls that wait and have no lock actor in the queue.
func (t *Turns) WithoutNode() int { return max(0, t.waiting-t.asked) }

// Users gives the calls that have a hold.
func (t *Turns) Users(id HoldID) (all []CallID) {
	if h := t.hold(id); h != nil {
		for c := h.users.first; c != nil; c = c.next {
			all = append(all, c.id)
		}
	}
	return all
}

// Standing says where a call stands.
type Standing struct {
	Call CallID
	// Number tells calls apart by their arrival.
	Number uint64
	// Hold is the one that it has, or that was asked for it. Behind is the one that it has, or that
	// is to serve it. 0 is none, or unknown.
	Hold, Behind HoldID
	Want         *Want
	State        messages.State
}

// Waits reports whether it does not hold.
func (s *Standing) Waits() bool {
	return s.State == messages.StateCreating || s.State == messages.StateWatching
}

// Standings yields all calls, queue by queue: those that hold, then those that wait, line by line,
// in order.
func (t *Turns) Standings(yield func(Standing) bool) {
	for _, q := range t.queues {
		if !t.standings(q, yield) {
			return
		}
	}
}

func (t *Turns) standings(q *queue, yield func(Standing) bool) bool {
	for _, l := range q.lines {
		for _, h := range l.holds {
			for c := h.users.first; c != nil; c = c.next {
				if !yield(t.standing(c, h)) {
					return false
				}
			}
		}
	}
	for _, l := range q.lines {
		covered, next := l.ready(t.now.At), 0
		var behind *hold
		if len(l.open) > 0 {
			behind = l.open[0]
		}
		for c := l.waiting.first; c != nil; c = c.next {
			for covered == 0 && next < len(l.asked) {
				behind, covered = l.asked[next], l.asked[next].serves
				next++
			}
			covered = max(0, covered-1)
			if !yield(t.standing(c, behind)) {
				return false
			}
		}
	}
	for c := q.awaiting.first; c != nil; c = c.next {
		if !yield(t.standing(c, nil)) {
			return false
		}
	}
	return true
}

// FirstBehind gives the first call that waits for a hold; 0 for none.
func (t *Turns) FirstBehind(id HoldID) CallID {
	if h := t.hold(id); h != nil {
		if c := t.firstBehind(h); c != nil {
			return c.id
		}
	}
	return 0
}

func (t *Turns) firstBehind(h *hold) (first *call) {
	t.standings(h.line.queue, func(s Standing) bool { // only those that wait stand behind it
		if s.Behind == h.id {
			first = t.call(s.Call)
		}
		return first == nil
	})
	return first
}

// Stands says where a call stands; the zero value for one that has ended.
func (t *Turns) Stands(id CallID) (found Standing) {
	if c := t.call(id); c != nil {
		t.standings(c.queue, func(s Standing) bool {
			if s.Call == id {
				found = s
			}
			return found.Call == 0
		})
	}
	return found
}

func (t *Turns) standing(c *call, behind *hold) Standing {
	s := Standing{Call: c.id, Number: c.number, Want: c.want, State: t.State(c.id)}
	if c.hold != nil {
		s.Hold = c.hold.id
	}
	if behind != nil {
		s.Behind = behind.id
	}
	return s
}

// Before gives, for errors, the hold that was asked for a waiting call, 0 for none, and the call
// that has the next hold of its line, or that this was asked for.
func (t *Turns) Before(id CallID) (before Standing, own HoldID) {
	c := t.call(id)
	switch {
	case c == nil:
	case c.hold != nil:
		return before, c.hold.id
	case c.phase == awaitsOwner:
		if other := c.decider(); other != nil {
			return t.standing(other, other.hold), 0
		}
	case c.line != nil:
		for _, holds := range [][]*hold{c.line.open, c.line.asked} {
			for _, h := range holds {
				if user := h.users.first; user != nil {
					return t.standing(user, h), 0
				}
				if h.call != nil {
					return t.standing(h.call, h), 0
				}
			}
		}
	}
	return before, 0
}
