package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Waits: the lock actor is known to wait for others.
func (t *Turns) Waits(m Moment, id HoldID) {
	if h := t.hold(id); h != nil && h.phase == asked && !h.waits {
		t.now = m
		h.waits = true
		t.settle(h.line.queue)
	}
}

// Held: the lock actor holds, in a session with this timeout.
func (t *Turns) Held(m Moment, id HoldID, b *messages.Held, timeout time.Duration) {
	h := t.hold(id)
	if h == nil || h.phase != asked {
		return
	}
	t.now = m
	l, own := h.line, h.call
	t.unask(h)
	h.phase, h.token, h.places, h.epoch, h.term, h.timeout = held, b.Token, b.Places, b.Epoch, b.Term, timeout
	h.proved = m.At
	l.open = append(l.open, h)
	if l.want.reads() && l.queue.exclude > 0 {
		l.closed = true
	}
	if h.try && own != nil && t.mayGrant(h) { // to another, it would leave this one's call to ask anew
		t.grant(h, own)
	}
	t.settle(l.queue)
}

// Hear takes what the lock actor tells in between, a notice of package messages.
func (t *Turns) Hear(m Moment, id HoldID, notice any) {
	h := t.hold(id)
	if h == nil {
		return
	}
	t.now = m
	switch n := notice.(type) {
	case *messages.Waiting: // it may come again
		h.before = n.Before
	case *messages.Watched: // once after Held and each Resumed
		if h.watch = watched; !n.Readable {
			h.watch = unreadable
		}
	case *messages.Checked: // a refusal ends the hold, with Lost; one that is cut off is void with Suspended
		if h.checking {
			h.checking, h.proved = false, m.At
		}
	case *messages.Suspended: // watches and checks are void
		h.link, h.checking = suspended, false
		if h.watch == watched {
			h.watch = unwatched
		}
		t.tellStates(h)
	case *messages.Resumed: // the node was there all the time
		h.link = up
		t.tellStates(h)
		if h.rivals == alone {
			t.emit(Output{Do: WatchContention, Hold: id})
		}
	case *messages.Contended:
		if h.rivals == alone {
			h.rivals, h.until = contended, m.At+h.left
		}
	case *messages.RevokeRequested:
		if h.phase == held || h.phase == kept || h.phase == spent {
			for c := h.users.first; c != nil; c = c.next {
				t.tellRevoke(c)
			}
			t.spend(h, revoked)
		}
	case *messages.Revoked: // of a lock actor with an observer, which keeps its one call's grace itself
		for h.phase == revoked && h.users.n > 0 {
			t.takeBack(h.users.first)
		}
	}
	t.settle(h.line.queue)
}

func (t *Turns) tellStates(h *hold) {
	for c := h.users.first; c != nil; c = c.next {
		t.emit(Output{Do: Tell, Call: c.id, Hold: h.id, State: t.State(c.id)})
	}
}

// Lost: the lease of the hold is over. Its calls are told at once.
func (t *Turns) Lost(m Moment, id HoldID, why messages.Reason) {
	h := t.hold(id)
	if h == nil || h.phase < held || h.phase > revoked {
		return
	}
	t.now = m
	t.lose(h, why, "")
	h.phase = leaving
	t.settle(h.line.queue)
}

func (t *Turns) lose(h *hold, why messages.Reason, detail string) {
	for h.users.n > 0 {
		c := h.users.first
		t.emit(Output{Do: Tell, Call: c.id, Hold: h.id, State: messages.StateLost, Reason: why, Detail: detail})
		t.part(c)
	}
	if h.phase == held || h.phase == kept {
		t.close(h)
	}
}

// Ended: the lock actor has ended: it never held, is lost, or is gone as told. The calls that have
// the hold, or the one that it was asked for, hear why.
func (t *Turns) Ended(m Moment, id HoldID, why messages.Reason, detail string) {
	h := t.hold(id)
	if h == nil || h.phase == awaitsRoom {
		return
	}
	t.now = m
	q := h.line.queue
	switch h.phase {
	case asked:
		c, pause := h.call, time.Duration(0)
		switch {
		case why == messages.ReasonSessionFull && t.makeRoom():
			pause = roomPause
		case why != messages.ReasonQueueFull || c != nil && c.want.MaxWaiters > 0:
		case h.try:
			why, detail = messages.ReasonNotAcquired, ""
		default: // others of the session, or of the gateway, wait
			pause = fullPause
		}
		if pause > 0 {
			h.phase = awaitsRoom
			t.asked--
			t.arm(h, m.At+pause)
			break
		}
		if why == messages.ReasonDeadlock { // searches take it for that of the first call behind it
			c = t.firstBehind(h)
		}
		t.unask(h)
		t.freeHold(h)
		t.hear(h.line, c, why, detail)
	case held, kept, spent, revoked:
		t.lose(h, why, detail)
		t.freeHold(h)
	default:
		t.freeHold(h)
	}
	t.settle(q)
}

// hear refuses the call that a hold was asked for, or if that has ended another of its line:
// otherwise the next hold would be refused likewise, for ever.
func (t *Turns) hear(l *line, c *call, why messages.Reason, detail string) {
	if c == nil {
		c = l.waiting.last
	}
	if c != nil {
		t.refuse(c, why, detail)
	}
}

// HoldTimer: the timer of a hold has fired.
func (t *Turns) HoldTimer(m Moment, id HoldID) {
	if h := t.hold(id); h != nil {
		t.now = m
		if h.phase == awaitsRoom && h.due != 0 {
			h.phase = asked
			t.emitAsk(h)
		}
		h.due = 0
		t.settle(h.line.queue)
	}
}
