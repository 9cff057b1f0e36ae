package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Where several sessions queue for one lock, a hand-off to another session takes a delete and an event, and one within
// the session nothing (fast path 3): what counts is how many nodes of a session stand in a row. Workers who come back
// one by one, each as it has given the lock back, would stand one by one for ever. So a create waits for company while
// the session waits already, in the same queue, behind a node of another session: until that wait is over, or so many
// have come as make a transaction, but for a few milliseconds at most. The order of the queue is that of the nodes, as
// ever; who tries only, or has nobody of its session before it, is not made to wait.

// company is how long a create waits for others.
const company = 5 * time.Millisecond

// joins keeps a create back until others come; false where it is to go at once.
func (s *session) joins(ch change) bool {
	c := ch.contender
	q := c.queue()
	if ch.node != "" || c.style.Mode != messages.Exclusive || c.watchAll || c.spec.want.Try || s.abroad[q] == 0 {
		return false
	}
	s.joining[q] = append(s.joining[q], ch)
	switch len(s.joining[q]) {
	case 1:
		this := ch.op
		s.after(company, func() {
			if all := s.joining[q]; len(all) > 0 && all[0].contender == c && all[0].op == this {
				s.admit(q)
			}
		})
	case enough:
		s.admit(q)
	}
	return true
}

// admit sends the creates of a queue that have waited.
func (s *session) admit(q queue) {
	all := s.joining[q]
	delete(s.joining, q)
	s.gathered = append(s.gathered, all...)
	s.flush()
}

// goAbroad notes that a vigil is about a node of another session.
func (s *session) goAbroad(c *contender, v *vigil) {
	if c.style.Mode == messages.Exclusive && !v.abroad {
		v.abroad = true
		s.abroad[c.queue()]++
	}
}

// comeHome notes that it is over. When the last is, those who waited for company go, once what it was about is done.
func (s *session) comeHome(c *contender, v *vigil) {
	if !v.abroad {
		return
	}
	q := c.queue()
	if s.abroad[q]--; s.abroad[q] > 0 {
		return
	}
	delete(s.abroad, q)
	if len(s.joining[q]) > 0 {
		s.home = append(s.home, q)
	}
}

// admitAll sends the creates whose wait has come to an end.
func (s *session) admitAll() {
	for _, q := range s.home {
		s.admit(q)
	}
	s.home = s.home[:0]
}
