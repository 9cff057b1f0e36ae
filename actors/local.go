package actors

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// What happens between contenders of one session needs no server (DESIGN section 4, fast paths 3 and 6): the session
// knows when a node of its own is gone, and when its holder gives it back.

// have notes that a contender's node exists.
func (s *session) have(c *contender, node string, sequence int32, token messages.Token) {
	if c.node != node {
		s.lack(c)
		if node != "" {
			c.whole = c.spec.at(node)
			s.nodes[c.whole]++
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
	if s.nodes[path]--; s.nodes[path] <= 0 {
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
	if !s.fast(HandOver) || c.style.Mode != messages.Exclusive || !c.granted || c.unsure || !s.connected {
		return
	}
	for _, w := range s.watches[c.at(c.node)] {
		next := w.contender
		if w.vigil == nil || next.vigil != w.vigil || w.vigil.keys[0] != c.at(c.node) || next.unsure || next.style.Mode == messages.Semaphore {
			continue
		}
		op := w.vigil.op
		s.endVigil(next)
		s.tellGone(next, machine.Event{Kind: machine.PredecessorGone, Op: op, Head: true}, c.givenBack, true)
		return
	}
}
