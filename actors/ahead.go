package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Lists ahead of time. Who waits for a node of another session that waits itself
// would have to list the queue again when that node is gone, to know whether it is first: a round trip within the
// hand-off. Instead it watches the one before its predecessor as well. When that is gone the predecessor probably
// holds; the queue is listed then, while it does, and the grant needs nothing but the event.
//
// It costs one read for each waiter, and wakes one session more with each release, whatever the length of the queue:
// the lock actor hears nothing of it. It does not pay where the predecessor is of the same session, which hands over.

// lookAhead watches the one before the predecessor.
func (s *session) lookAhead(c *contender, v *vigil, predecessor string) {
	if c.vigil != v || c.second == "" || c.style.Mode != messages.Exclusive || s.nodes[c.at(predecessor)].contenders > 0 ||
		!s.fast(ListingAhead) || !s.fast(OneListing) {
		return
	}
	path := c.at(c.second)
	v.second, c.second = path, ""
	s.keep(c, v, path)
	if s.nodes[path].contenders > 0 && s.fast(LocalPredecessors) {
		return // of our own session, which hears of its end by itself
	}
	s.run(func(conn *zkconn.Conn) func() {
		_, _, err := conn.GetWatched(path)
		return func() {
			if c.vigil == v && v.second == path && errors.Is(err, zkconn.ErrNoNode) {
				s.listAhead(c, v) // of other failures the predecessor's own watch will hear
			}
		}
	})
}

// listAhead lists the queue for who still waits.
func (s *session) listAhead(c *contender, v *vigil) {
	s.drop(v.second, func(w watcher) bool { return w.vigil == v })
	v.second = ""
	if s.connected {
		s.listFor(lister{contender: c, op: v.op, ahead: v})
	}
}

// lookedAhead takes the listing. When the one before had given up, and others are before the predecessor still, the
// last of them is watched in its place.
func (s *session) lookedAhead(c *contender, v *vigil, found view) {
	if c.vigil != v || found.err != nil {
		return
	}
	place, shown := found.queue.Find(c.node)
	if !shown || v.keys[0] != c.at(place.Predecessor) {
		return // the predecessor is gone, and the event on its way
	}
	c.second = place.LookAhead
	v.head = place.Head
	if !place.Head {
		s.lookAhead(c, v, place.Predecessor)
	}
}
