package turns

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

func (t *Turns) enter(c *call, l *line) {
	c.phase, c.line = waits, l
	l.waiting.add(c)
	l.queue.waiting++
	if !c.want.reads() {
		l.queue.exclude++
	}
	if c.want.Try {
		l.queue.tries++
	}
}

func (t *Turns) lineUp(c *call) {
	q := c.queue
	t.enter(c, t.lineOf(q, c.want, c.want.Alone))
	if t.serve(c.line); c.phase != waits {
		return
	}
	most, inside := c.want.MaxWaiters, q.used+q.waiting-1
	switch {
	case c.want.Try:
		if q.keepsOut(c) {
			t.refuse(c, messages.ReasonNotAcquired, "")
			return
		}
	case most > 0 && q.key.Kind != Permits && inside >= most && q.keepsOut(c):
		t.refuseBound(c, inside)
		return
	case most > 0:
		c.bound = undecided
		c.line.undecided++
	}
	if !c.want.reads() && len(q.lines) > 1 {
		q.closeReaders()
	}
}

// keepsOut reports whether calls of this client keep out one that has come last.
func (q *queue) keepsOut(c *call) bool {
	switch {
	case q.key.Kind == Permits: // where one waits, there are none
		return q.stands()
	case c.want.reads():
		return q.writers+q.exclude > 0
	default:
		return q.writers+q.readers > 0 || q.waiting > 1
	}
}

// stands reports whether a hold that is asked for is known to wait for others.
func (q *queue) stands() bool {
	return slices.ContainsFunc(q.lines, func(l *line) bool {
		return slices.ContainsFunc(l.asked, func(h *hold) bool { return h.waits })
	})
}

func (q *queue) closeReaders() {
	for _, l := range q.lines {
		if l.want.reads() {
			l.closed = true
		}
	}
}

// judge decides whether calls with MaxWaiters may wait. Before a call are the contenders before the
// hold that is to serve it, and the calls of its line that have none of these.
func (t *Turns) judge(l *line) {
	covered, place, nodes, before := l.ready(t.now.At), 0, -1, 0
	for c := l.waiting.first; c != nil && l.undecided > 0; {
		for place >= covered {
			if nodes++; nodes == len(l.asked) {
				return
			}
			covered += l.asked[nodes].serves
			before = l.asked[nodes].before
		}
		next := c.next
		switch ahead := before + place - nodes; {
		case c.bound != undecided || nodes >= 0 && before < 0: // no bound, or no listing yet
		case nodes >= 0 && ahead >= c.want.MaxWaiters:
			t.refuseBound(c, ahead)
			t.judge(l) // what is asked for has changed
			return
		default: // in the line of a hold that is held nobody else is before it
			t.letIn(c)
		}
		place++
		c = next
	}
}

func (t *Turns) refuseBound(c *call, ahead int) {
	t.refuse(c, messages.ReasonQueueFull, fmt.Sprintf("%d, and it waits behind fewer than %d", ahead, c.want.MaxWaiters))
}
