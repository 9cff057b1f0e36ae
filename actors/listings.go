package actors

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// listing is a listing of one lock path that is under way, and who waits for it. One listing serves
// everybody who asked before it was answered and whose node it shows: nodes only ever vanish from
// before a contender, so that an older view never makes it look closer to the head than it is.
type listing struct {
	waiting []lister
	late    []lister // asked while it was under way
	permits int      // a semaphore's, as one who waits would have it: the lock path's data are read as well
}

type lister struct {
	contender *contender
	op        uint64
	ahead     *vigil // who only looks ahead, while it waits
}

// view is what a listing has found.
type view struct {
	queue   *queue.Listing
	permits int
	err     error
}

func (s *session) list(c *contender, op uint64) {
	if c.contest() { // whoever has the node holds
		s.tell(c.lock, machine.Event{Kind: machine.Listed, Op: op, First: c.node != "", Missing: c.node == ""})
		return
	}
	early := c.early
	if c.early = nil; early != nil && early.err == nil {
		if _, shown := early.queue.Find(c.node); shown {
			s.tellListed(lister{contender: c, op: op}, *early)
			return
		}
	}
	s.listFor(lister{contender: c, op: op})
}

// listFor has a listing serve a contender: the one that is under way, if it shows the contender's node.
func (s *session) listFor(w lister) {
	path := w.contender.path
	if l := s.listings[path]; l != nil && s.fast(SharedListings) {
		l.late = append(l.late, w)
		return
	}
	s.startListing(path, []lister{w})
}

func (s *session) startListing(path string, waiting []lister) {
	l := &listing{waiting: waiting}
	for _, w := range waiting {
		l.permits = max(l.permits, cmp.Or(w.contender.permits, w.contender.spec.permits)) // as it last was
	}
	s.listings[path] = l
	permits := l.permits
	s.run(func(conn *zkconn.Conn) func() {
		v := readQueue(conn, path, permits)
		return func() { s.listed(path, l, v) }
	})
}

// readQueue reads the number of permits before the queue: the queue is never older than what it is judged by.
func readQueue(conn *zkconn.Conn, path string, permits int) (v view) {
	if permits > 0 {
		v.permits, v.err = readPermits(conn, path, permits)
		if v.err != nil && !errors.Is(v.err, zkconn.ErrNoNode) {
			return v
		}
	}
	children, err := conn.Children(path)
	if errors.Is(err, zkconn.ErrNoNode) { // the lock path is gone, and every node in it
		err = nil
	}
	v.queue, v.err = queue.NewListing(children, v.permits), err
	return v
}

func (s *session) listed(path string, l *listing, v view) {
	if s.listings[path] == l {
		delete(s.listings, path)
	}
	for _, w := range l.waiting {
		s.tellListed(w, v)
	}
	var again []lister
	for _, w := range l.late {
		if s.serves(l, v, w) || !s.connected {
			s.tellListed(w, v)
		} else {
			again = append(again, w)
		}
	}
	if len(again) == 0 {
		return
	}
	if running := s.listings[path]; running != nil {
		running.late = append(running.late, again...)
		return
	}
	s.startListing(path, again)
}

// serves tells whether a listing says what a contender needs that asked while it was under way.
func (s *session) serves(l *listing, v view, w lister) bool {
	if v.err != nil {
		return false
	}
	place, shown := v.queue.Find(w.contender.node)
	if shown && place.Predecessor != "" && place.Predecessor == w.contender.departed {
		return false // it was read before that one went
	}
	return shown && (l.permits > 0 || w.contender.style.Mode != messages.Semaphore)
}

func (s *session) tellListed(w lister, v view) {
	switch {
	case w.contender.gone:
	case w.ahead != nil:
		s.lookedAhead(w.contender, w.ahead, v)
	default:
		ev := w.contender.judgeListing(w.op, v)
		ev.Head = ev.Head && s.fast(OneListing)
		s.tell(w.contender.lock, ev)
	}
}

// judgeListing is what a listing means for a contender. It notes what the contender is to watch.
func (c *contender) judgeListing(op uint64, v view) machine.Event {
	switch {
	case errors.Is(v.err, queue.ErrNoPermits):
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits,
			Detail: fmt.Sprintf("data of %s: %v", c.path, v.err)}
	case v.err != nil && zkconn.OutcomeOf(v.err) == zkconn.Refused:
		return machine.Event{Kind: machine.Refused, Op: op, Reason: why(v.err), Detail: v.err.Error()}
	case v.err != nil:
		return machine.Event{Kind: machine.Unknown, Op: op, Detail: v.err.Error()}
	}
	place, shown := v.queue.Find(c.node)
	ev := machine.ListedEvent(op, place, shown)
	ev.Head = ev.Head && !c.watchAll // no news of the whole lock path says which node is gone
	if c.style.Mode == messages.Semaphore && !ev.Missing {
		if detail := c.disagrees(v.permits); detail != "" {
			return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits, Detail: detail}
		}
		c.permits, c.front, c.ahead = v.permits, place.Front, place.Earlier
		if len(place.Front) != place.Before && c.written != place.Predecessor {
			c.front, c.ahead = slices.Clone(place.Front), nil // it watches one node: the names of all are not kept for it
		}
	}
	c.before, c.second = place.Before, place.LookAhead
	return ev
}

// disagrees tells why a contender cannot wait for so many permits, "" when it can. The number may be changed
// on purpose while it waits; but when it comes it must know the right one.
func (c *contender) disagrees(permits int) string {
	switch {
	case c.permits == 0 && permits != c.spec.permits:
		return fmt.Sprintf("%s has %d permits, not %d", c.path, permits, c.spec.permits)
	case c.style.Weight > permits:
		return fmt.Sprintf("%d permits are asked for, and %s has %d", c.style.Weight, c.path, permits)
	}
	return ""
}
