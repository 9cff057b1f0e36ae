package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Sticky locks: the node of a lock that was given back may stay for a while, and is used again by the next request of
// this session. Nobody else can hold meanwhile, because it is the first of the queue. A watch on the lock path tells
// when somebody comes, and one on the node when somebody asks for the lock back; then the node goes at once, or as soon
// as it is given back. A node that says so already goes with its hold: the next one was not asked. How a node is reused
// is in reusing.go.
//
// Each grant needs a token of its own, greater than the last and less than that of any node made later. The places
// that come after its own in the node's transaction will do: who had them came behind it in the queue, and as
// nobody is there now they have never held and never will.

// rest is a node that may be used again. It goes from one contender to the next.
type rest struct {
	contender *contender
	resting   bool // nobody holds
	watched   bool // we shall hear of who comes
	wanted    bool // somebody has come
	until     time.Time
	due       time.Time // when timer fires, which looks whether it is time; zero where none runs
	timer     *time.Timer

	// next is who is to reuse the node, and op its create, while the servers are asked whether the
	// node exists. The node is not next's yet: it rests.
	next *contender
	op   uint64
}

// maxResting bounds how many nodes a session keeps that nobody holds.
const maxResting = 1024

// layDown keeps the node of a lock that is given back; false where it is to go.
func (s *session) layDown(c *contender) bool {
	if c.sticky == 0 || !c.granted || c.laid || c.mates || c.unsure || c.asked || !s.connected || c.token.Place() >= messages.MaxPlace ||
		c.rest != nil && c.rest.wanted || len(s.resting) >= maxResting || s.waitedFor(c) {
		return false
	}
	if s.resting[c.queue()] != nil { // that one was deleted, and the session has not heard of it
		return false
	}
	if c.rest == nil {
		c.rest = &rest{contender: c}
	}
	r := c.rest
	r.resting, r.until = true, time.Now().Add(c.sticky)
	s.resting[c.queue()] = r
	s.setGranted(c, false)
	c.laid = true
	c.verifies = 0 // what is still under way may find the node when another has it
	s.unwatchOwn(c)
	s.restUntil(r)
	if !r.watched {
		s.watchArrivals(r)
	}
	return true
}

// waitedFor tells whether somebody of this session waits for the contender's node.
func (s *session) waitedFor(c *contender) bool {
	for _, w := range s.watches[c.at(c.node)] {
		if w.vigil != nil {
			return true
		}
	}
	return false
}

// restUntil lets a node go when its time is over, unless somebody holds it then. A timer that runs already does, if it is
// not due later: whoever had the node before may have kept it for longer.
func (s *session) restUntil(r *rest) {
	switch {
	case r.due.IsZero():
	case r.due.After(r.until):
		r.timer.Stop()
		delete(s.timers, r.timer)
	default:
		return
	}
	due := r.until
	r.due = due
	r.timer = s.after(max(time.Until(due), time.Millisecond), func() {
		if r.due != due { // it fired before it was stopped
			return
		}
		r.due = time.Time{}
		switch {
		case !r.resting, r.next != nil: // declines or layDown sets the timer again
		case time.Now().Before(r.until):
			s.restUntil(r)
		default:
			s.endRest(r)
		}
	})
}

// watchArrivals reads the queue and the node, and has the servers tell when they change.
func (s *session) watchArrivals(r *rest) {
	c := r.contender
	path, node, whole := c.path, c.node, c.at(c.node)
	r.watched = true
	for _, key := range []string{childrenOf(path), whole} {
		s.watches[key] = append(s.watches[key], watcher{contender: c, rest: r})
	}
	s.run(func(conn *zkconn.Conn) func() {
		children, err := conn.ChildrenWatched(path)
		alone, spent := err == nil && queue.NewListing(children, 0).Alone(node), err != nil
		if alone {
			var data []byte
			data, _, err = conn.GetWatched(whole)
			spent = err != nil || queue.IsRevokeRequest(data)
		}
		return func() {
			if !alone || spent {
				s.arrived(r, spent)
			}
		}
	})
}

// arrived takes note that somebody may want the lock. Whoever has come is behind the node, which is
// reused once more when a request is about to; unless it is spent: it is gone, or says that the
// lock was asked back.
func (s *session) arrived(r *rest, spent bool) {
	r.wanted = true
	if r.resting && (spent || r.next == nil) {
		s.endRest(r)
	}
}

// endRest lets a node go that nobody holds. Who was to reuse it makes a node of its own.
func (s *session) endRest(r *rest) {
	c, next := r.contender, r.next
	r.next = nil
	s.forgetRest(c)
	s.settle(c)
	if next != nil {
		s.create(next, r.op)
	}
}

// forgetRest ends that a contender's node may be used again.
func (s *session) forgetRest(c *contender) {
	r := c.rest
	if r == nil {
		return
	}
	c.rest = nil
	if s.resting[c.queue()] == r {
		delete(s.resting, c.queue())
	}
	r.resting = false
	for _, key := range []string{childrenOf(c.path), c.at(c.node)} {
		s.drop(key, func(w watcher) bool { return w.rest == r })
	}
}

// wakeAll lets go of all that rests, because the watches that would tell of others are lost with the connection:
// settleAgain deletes the nodes. A request that was to reuse one recovers, and asks again.
func (s *session) wakeAll() {
	for _, c := range s.contenders {
		if c.rest != nil {
			c.rest.next = nil
		}
		s.forgetRest(c)
	}
}

// restGone takes note that a resting node does not exist any more.
func (s *session) restGone(c *contender, err error) {
	if c.rest != nil && c.rest.resting && errors.Is(err, zkconn.ErrNoNode) {
		s.endRest(c.rest)
	}
}
