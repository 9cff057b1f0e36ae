package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Call begins a call, within a lease of the same lock or 0. want must not change.
func (t *Turns) Call(m Moment, want *Want, within CallID) CallID {
	t.now = m
	key := KeyOf(want)
	q := t.queues[key]
	if q == nil {
		q = pop(&t.free.queues)
		*q = queue{key: key, lines: q.lines[:0]}
		t.queues[key] = q
	}
	c := pop(&t.free.calls)
	if c.id == 0 {
		c.id = CallID(len(t.calls)) | 1<<32
		t.calls = append(t.calls, c)
	}
	t.number++
	t.waiting++
	id := c.id
	*c = call{id: id, number: t.number, sameOwner: c, queue: q, want: want}
	q.calls++
	if want.Timeout > 0 {
		c.due = m.At + want.Timeout
		t.emit(Output{Do: SetTimer, Call: id, Deadline: c.due})
	}
	if lease := t.call(within); lease != nil && lease.has() && lease.queue == q && q.key.Kind != Permits {
		c.sameOwner, lease.sameOwner = lease.sameOwner, c
		if !t.place(c) {
			t.await(c)
		}
	} else {
		t.lineUp(c)
	}
	t.settle(q)
	return id
}

// Withdraw ends a call whose caller does not want it any more. One that holds gives back.
func (t *Turns) Withdraw(m Moment, id CallID) {
	c := t.call(id)
	if c == nil {
		return
	}
	if c.has() {
		t.GiveBack(m, id)
		return
	}
	t.now = m
	q := c.queue
	t.withdraw(c)
	t.settle(q)
}

// GiveBack ends a call that holds. Its transactions under way keep the hold from the next.
func (t *Turns) GiveBack(m Moment, id CallID) {
	c := t.call(id)
	if c == nil || !c.has() {
		return
	}
	t.now = m
	h := c.hold
	t.part(c)
	t.vacated(h)
	t.settle(h.line.queue)
}

// CallTimer: the timer of a call has fired.
func (t *Turns) CallTimer(m Moment, id CallID) {
	c := t.call(id)
	if c == nil || c.due == 0 || m.At < c.due {
		return
	}
	t.now = m
	q := c.queue
	if c.phase == revoking {
		t.takeBack(c)
	} else {
		t.refuse(c, messages.ReasonTimeout, "")
	}
	t.settle(q)
}

// TxnBegun: a call that holds begins a transaction. TxnEnded follows when nothing of it can be
// carried out any more, with false where it could not be fenced.
func (t *Turns) TxnBegun(id CallID) {
	if c := t.call(id); c != nil && c.has() {
		c.hold.txns++
	}
}

// TxnEnded ends a transaction.
func (t *Turns) TxnEnded(m Moment, id HoldID, fenced bool) {
	h := t.hold(id)
	if h == nil || h.txns == 0 {
		return
	}
	t.now = m
	h.txns--
	if !fenced {
		t.spend(h, spent)
	}
	t.vacated(h)
	t.settle(h.line.queue)
}

// TxnRefused: a transaction was refused with ReasonSessionFull. It may be tried again after a
// pause; zero: there will be no room.
func (t *Turns) TxnRefused(m Moment, id HoldID) (pause time.Duration) {
	if h := t.hold(id); h != nil {
		t.now = m
		if t.makeRoom() {
			pause = roomPause
		}
		t.settle(h.line.queue)
	}
	return pause
}

// Close: the client ends. Kept holds are given back, and none is kept from now on.
func (t *Turns) Close(m Moment) {
	t.now, t.ending = m, true
	for _, h := range t.holds {
		if h.phase == kept {
			t.settle(h.line.queue)
		}
	}
}
