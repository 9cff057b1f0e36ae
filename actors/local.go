package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// What happens between contenders of one session needs no server: the session
// knows when a node of its own is gone, and when its holder gives it back.

// ownNode is a node of this session.
type ownNode struct {
	path       string // as it is kept already: whoever watches it keeps no other
	contenders int    // that have it
}

// have notes that a contender's node exists.
func (s *session) have(c *contender, node string, sequence int32, token messages.Token) {
	if c.node != node {
		s.lack(c)
		c.leaves, c.next, c.asked = false, nil, false
		if node != "" {
			c.whole = c.spec.at(node)
			own := s.nodes[c.whole]
			own.path = c.whole
			own.contenders++
			s.nodes[c.whole] = own
		}
	}
	c.node, c.sequence, c.token = node, sequence, token
}

// lack notes that it does not, or not for this contender.
func (s *session) lack(c *contender) {
	if c.node == "" {
		return
	}
	path := c.at(c.node)
	if own := s.nodes[path]; own.contenders > 1 {
		own.contenders--
		s.nodes[path] = own
	} else {
		delete(s.nodes, path)
	}
	c.node, c.whole, c.sequence, c.token = "", "", 0, 0
}

// vanished tells those who wait for a node of ours that it is gone.
func (s *session) vanished(path string) {
	for _, w := range append([]watcher(nil), s.watches[path]...) {
		if w.vigil != nil {
			s.stirred(w, zkconn.Event{Kind: zkconn.NodeDeleted, Path: path})
		}
	}
}

// handOver grants the lock that a contender gives back to the one right behind it, before the node is deleted, where
// that one is of this session. Whoever watches a node as its predecessor has nobody between, and nobody can come in
// between; and as long as either node exists nobody of another session is first. The delete follows, and is tried
// until it is known to be done. A hold that is taken from its owner is not handed over: until its node is gone the
// owner may not have heard of it.
func (s *session) handOver(c *contender) {
	if !s.fast(HandOver) || c.next == nil || c.next.vigil == nil || c.unsure || !s.connected {
		return // or it has been handed over already
	}
	next, op := c.next, c.next.vigil.op
	s.endVigil(next)
	s.handsOn(c)
	s.tellGone(next, machine.Event{Kind: machine.PredecessorGone, Op: op, Head: true}, c.givenBack, true)
}

// leave notes that a contender's node is about to be deleted, and who is behind a holder in this session: the delete is
// to be done only while that one has its node. A delete that is asked for again is about the same one.
func (s *session) leave(c *contender) {
	if c.leaves {
		return
	}
	c.leaves = true
	if !c.granted || c.style.Mode != messages.Exclusive {
		return
	}
	for _, w := range s.watches[c.at(c.node)] {
		next := w.contender
		if w.vigil != nil && next.vigil == w.vigil && w.vigil.keys[0] == c.at(c.node) && !next.unsure && next.style.Mode != messages.Semaphore {
			c.next = next
			return
		}
	}
}

// beside is a node that must exist when another is deleted: that of who has the lock now, or is to have it. An operator
// may have deleted it while it waited; then the other's node has to stay, so that nobody else is let in, until it has
// been told.
type beside struct {
	contender *contender
	path      string
}

// successor gives what must exist when a contender's node is deleted; nothing where nobody of this session has the lock
// after it, or that one has given it back, too.
func (c *contender) successor() (beside, bool) {
	for c.next != nil && c.next.leaves { // the lock has been handed on meanwhile
		c.next = c.next.next
	}
	if c.next == nil || c.next.gone || c.next.node == "" {
		return beside{}, false
	}
	return beside{c.next, c.next.whole}, true
}

// disappeared tells who has the lock that its node is gone, when that is what a delete was refused for. The delete may
// then be asked for again.
func (s *session) disappeared(all []beside, err error) bool {
	var refused *zkconn.Error
	if !errors.Is(err, zkconn.ErrNoNode) || zkconn.OutcomeOf(err) == zkconn.Unknown || !errors.As(err, &refused) {
		return false
	}
	for _, b := range all {
		if b.path != refused.Path {
			continue
		}
		if c := b.contender; c.whole == b.path && !c.gone && !c.leaves {
			c.leaves = true // nobody looks for its node any more
			s.tell(c.lock, machine.Event{Kind: machine.NodeGone})
			s.vanished(b.path)
		}
		return true
	}
	return false
}
