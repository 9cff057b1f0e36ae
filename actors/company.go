package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Where several sessions queue for one lock, a hand-off to another session takes a delete and an event, and one within
// the session nothing (fast path 3): what counts is how many nodes of a session stand in a row. Workers who come back
// one by one, each as it has given the lock back, would stand one by one for ever. So a create waits for company while
// the session waits already, in the same queue, behind a node of another session, and while it then has its turn: until
// those who had the lock in that turn have come back, too, or so many have come as make a transaction, but for a few
// milliseconds at most. One wait is made longer once. The order of the queue is that of the nodes, as ever; who tries
// only is not made to wait.
//
// The deletes of a turn wait for each other, too, for half a millisecond at most: the lock has been handed on already, and
// who waits in other sessions waits for the last of them. One transaction then ends the turn, in the place of two. Only
// those wait who have held for so short a time that the next are likely to do the same.
//
// Where no other session was met a turn begins with the first hand-over, and creates go at once while it lasts. Only
// when it is over are those who were in it waited for: they come back together, within as many moments as they are.

const (
	// company is how long a create waits for others.
	company = 5 * time.Millisecond
	// settling is how long those who have given the lock back are waited for when the turn of their session is over.
	settling = time.Millisecond
	// comeback is that time for each of them where no other session was met.
	comeback = 50 * time.Microsecond
	// linger is how long the delete of a node waits whose lock was handed on inside the session.
	linger = time.Millisecond / 2
)

// turn is what follows when a session has waited for another's node, or when it hands over: those of its own nodes that
// stand in a row there hold one after the other.
type turn struct {
	met  bool // another session was
	left int  // own nodes that have gone since
	came int  // creates that have come since
	over bool // the newest of the own nodes has gone, too

	lingering []change // deletes that wait for the last
}

// complete tells whether all whom it makes sense to wait for are there.
func (t *turn) complete() bool { return t.over && t.came >= t.left }

// gathers tells whether creates wait for each other.
func (t *turn) gathers() bool { return t != nil && (t.met || t.over) }

// joins keeps a create back until others come; false where it is to go at once.
func (s *session) joins(ch change) bool {
	c := ch.contender
	q := c.queue()
	t := s.turns[q]
	if ch.node != "" || c.style.Mode != messages.Exclusive || c.watchAll || c.spec.want.Try || s.abroad[q] == 0 && !t.gathers() {
		return false
	}
	row := s.joining[q]
	if row == nil {
		row = &gathering{}
		s.joining[q] = row
		s.after(company, func() {
			if s.joining[q] == row {
				s.admit(q)
			}
		})
	}
	row.creates = append(row.creates, ch)
	if t != nil {
		t.came++
	}
	if len(row.creates) == enough || t != nil && t.complete() {
		s.admit(q)
	}
	return true
}

// gathering is creates that wait for each other. Its time is its own, and not that of the one who came first: that one
// may give up.
type gathering struct{ creates []change }

// admit sends the creates of a queue that have waited.
func (s *session) admit(q queueKey) {
	if row := s.joining[q]; row != nil {
		delete(s.joining, q)
		s.gathered = append(s.gathered, row.creates...)
	}
	s.endTurn(q)
	s.flush()
}

// endTurn forgets that it is the turn of the session. What has waited because it was is to be sent.
func (s *session) endTurn(q queueKey) {
	if t := s.turns[q]; t != nil {
		delete(s.turns, q)
		s.part(t)
	}
}

// lingers keeps a delete back in a turn, until that of the last; false where it is to go at once, with those before it.
func (s *session) lingers(ch change) bool {
	t := s.turns[ch.contender.queue()]
	if ch.node == "" || t == nil || !ch.contender.brief {
		return false
	}
	next, some := ch.contender.successor()
	if !some || next.contender.vigil != nil { // who still waits for this very delete
		s.part(t)
		return false
	}
	switch t.lingering = append(t.lingering, ch); len(t.lingering) {
	case enough:
		s.part(t)
		s.flush()
	case 1:
		s.after(linger, func() {
			s.part(t)
			s.flush()
		})
	}
	return true
}

// part has the deletes of a turn sent that have waited.
func (s *session) part(t *turn) {
	s.gathered = append(s.gathered, t.lingering...)
	t.lingering = nil
}

// goAbroad notes that a vigil is about a node of another session.
func (s *session) goAbroad(c *contender, v *vigil) {
	if c.style.Mode == messages.Exclusive && !v.abroad {
		v.abroad = true
		s.abroad[c.queue()]++
		s.endTurn(c.queue())
		s.flush()
	}
}

// comeHome notes that it is over. When the last is, the session has its turn.
func (s *session) comeHome(c *contender, v *vigil) {
	if !v.abroad {
		return
	}
	q := c.queue()
	if s.abroad[q]--; s.abroad[q] > 0 {
		return
	}
	delete(s.abroad, q)
	s.endTurn(q)
	s.turns[q] = &turn{met: true}
	if s.newest[q] == nil { // given up, all of them
		s.turns[q].over = true
		s.home = append(s.home, q)
	}
}

// handsOn notes that the lock goes from one node of the session to the next.
func (s *session) handsOn(c *contender) {
	if q := c.queue(); s.turns[q] == nil {
		s.turns[q] = &turn{}
	}
}

// depart notes that a node has gone. With the newest of the session in its queue the turn is over.
func (s *session) depart(c *contender) {
	q := c.queue()
	t := s.turns[q]
	if t == nil {
		return
	}
	if c.style.Mode == messages.Exclusive {
		t.left++
	}
	if s.newest[q] == nil && !t.over {
		t.over = true
		s.home = append(s.home, q)
	}
}

// regroup sends the creates of those whose turn is over, when all have come back, or soon.
func (s *session) regroup() {
	for _, q := range s.home {
		t := s.turns[q]
		switch {
		case t == nil || !t.over: // another has begun
		case t.complete() || t.left == 1 && s.joining[q] == nil:
			s.admit(q)
		default:
			wait := settling
			if !t.met {
				wait = min(wait, time.Duration(t.left)*comeback)
			}
			s.after(wait, func() {
				if s.turns[q] == t {
					s.admit(q)
				}
			})
		}
	}
	s.home = s.home[:0]
}
