package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// How a retained node is reused. A session that has not heard that the node is gone does not know
// that it exists: an operator may have deleted it, and somebody else may hold, with a greater
// token. The event of that may be on its way, and a server that is cut off never sends one. So the
// session has the ensemble commit a transaction that checks the node, sent after the request came,
// and grants the lock when that one succeeds. While the node exists nobody behind it is granted the
// lock; whoever is granted it later has a greater token.
//
// This costs one round trip, as a create does; what is saved is the delete, and a write to the lock
// path. A sync would be cheaper for the servers and prove nothing: a leader that is cut off answers
// it.
//
// When the check does not succeed, because the node is gone or because nobody knows, the session
// deletes what may be left of the node, and the request makes one of its own.

// takeUp has a contender reuse the node of its queue that rests, if it exists; false where there is
// none for it.
func (s *session) takeUp(c *contender, op uint64) bool {
	r := s.resting[c.queue()]
	if r == nil || r.next != nil || c.contest() {
		return false
	}
	old := r.contender
	if old.style != c.style || !old.saysTheSame(c.spec) || !s.connected {
		s.endRest(r)
		return false
	}
	r.next, r.op = c, op
	path := old.at(old.node)
	s.run(func(conn *zkconn.Conn) func() {
		b := heartbeat(conn, path)
		return func() { s.checked(r, c, b) }
	})
	return true
}

// checked takes the answer to the check of a node that a contender is to reuse.
func (s *session) checked(r *rest, c *contender, b beat) {
	s.renewed()
	there := b.err == nil || errors.Is(b.err, zkconn.ErrNoAuth) // what may not be read was found
	switch {
	case r.next != c: // it has taken that back, or has made a node of its own meanwhile
		s.restGone(r.contender, b.err)
	case there && r.resting:
		s.reuse(r)
	default:
		s.endRest(r)
	}
}

// reuse makes a node that rests that of the contender that is to have it.
func (s *session) reuse(r *rest) {
	old, c := r.contender, r.next
	token, err := messages.NewToken(old.token.Zxid(), old.token.Place()+1)
	if err != nil { // layDown keeps no node without a place left
		s.endRest(r)
		return
	}
	delete(s.resting, c.queue())
	sp := *c.spec
	sp.guid, sp.by = old.guid, old.by
	c.spec, c.place, c.mates = &sp, token.Place(), false
	r.contender, r.resting, r.next = c, false, nil
	c.rest, old.rest = r, nil
	s.have(c, old.node, old.sequence, token)
	if s.newest[c.queue()] == old {
		s.newest[c.queue()] = c
	}
	s.lack(old)
	if old.gone {
		s.strike(old)
	}
	s.startBeating()
	ev := machine.Event{Kind: machine.Created, Op: r.op, Node: c.node, Token: token, Alone: true}
	s.system.Root.Send(c.lock, &news{event: ev, lease: s.lease, as: sp.by})
}

// declines takes back that a contender is to reuse a node, which rests on for the next; false where
// it was not to.
func (s *session) declines(c *contender) bool {
	r := s.resting[c.queue()]
	if r == nil || r.next != c {
		return false
	}
	r.next = nil
	if r.wanted {
		s.endRest(r)
	} else {
		s.restUntil(r)
	}
	return true
}
