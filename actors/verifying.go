package actors

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// verify finds out whether the contender's node exists in this session. It waits for every create of
// the contender to come back first: what is still under way may yet make a node.
func (s *session) verify(c *contender, op uint64) {
	if op < c.verifies { // it was put off, and a newer one has overtaken it: nobody waits for this one
		s.stale.Add(1)
		return
	}
	if c.laid { // its answer was lost on the way, behind a loss of the connection; the node is another's, or nobody's
		s.tell(c.lock, machine.Event{Kind: machine.Found, Op: op})
		return
	}
	c.joins = 0 // what it waited for is void, and would be answered twice
	if c.creates > 0 {
		c.later = append(c.later, func() { s.verify(c, op) })
		return
	}
	if !s.connected { // the lock actor was told, or is about to be
		s.parked = append(s.parked, parked{c, machine.Effect{Do: machine.Verify, Op: op}})
		return
	}
	c.verifies = op
	sp, me := c.spec, s.identity(c)
	known := own{node: c.node, czxid: c.token.Zxid()}
	if c.unsure {
		known = own{}
	}
	s.run(func(conn *zkconn.Conn) func() {
		found, err := findOwn(conn, sp, me, known)
		return func() { s.verified(c, op, found, err) }
	})
}

// own is a node of ours as found.
type own struct {
	node  string
	czxid int64
	beat  beat
}

// findOwn looks for the contender's node and proves with a committed transaction that it is there. A
// node that is known needs nothing but the proof. Otherwise the list is read after a sync, because a
// follower that lags would not show it (hazard (a): the library's own search makes a second node), and
// a node with our GUID is ours only when our session owns it (CURATOR-604). Of several, the first in
// the queue is kept and the others are deleted.
func findOwn(conn *zkconn.Conn, sp *spec, me identity, known own) (own, error) {
	if known.node == "" || known.czxid == 0 || sp.contest() {
		all, err := ownNodes(conn, sp, me)
		if err != nil || len(all) == 0 {
			return own{}, err
		}
		for _, extra := range all[1:] {
			if _, err := conn.Delete(sp.at(extra.node)); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
				return own{}, err
			}
		}
		known = all[0]
	}
	known.beat = heartbeat(conn, sp.at(known.node))
	switch {
	case errors.Is(known.beat.err, zkconn.ErrNoNode):
		return own{beat: known.beat}, nil
	case !known.beat.acknowledged():
		return own{}, fmt.Errorf("verifying %s: %w", sp.at(known.node), known.beat.err)
	default:
		return known, nil
	}
}

// ownNodes lists the nodes with our GUID that our session owns, in the order of the queue. That there is none is
// believed only behind a committed transaction: a leader answers its own clients' sync at once, also when it has not
// made a change itself yet that it told others of (see zkconn.Conn.CatchUp).
func ownNodes(conn *zkconn.Conn, sp *spec, me identity) ([]own, error) {
	around := sp.path
	if sp.contest() {
		around = sp.at(sp.node)
	}
	if err := conn.Sync(around); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
		return nil, err
	}
	all, err := shownNodes(conn, sp, me)
	if err != nil || len(all) > 0 {
		return all, err
	}
	if err := conn.CatchUp(around); err != nil {
		return nil, err
	}
	return shownNodes(conn, sp, me)
}

// shownNodes is ownNodes for what our server shows.
func shownNodes(conn *zkconn.Conn, sp *spec, me identity) ([]own, error) {
	if sp.contest() {
		return ownContest(conn, sp, me)
	}
	children, err := conn.Children(sp.path)
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []own
	for _, child := range children {
		if !strings.Contains(child, sp.guid) {
			continue
		}
		stat, exists, err := conn.Exists(sp.at(child))
		if err != nil {
			return nil, err
		}
		if exists && stat.EphemeralOwner == me.session {
			all = append(all, own{node: child, czxid: stat.Czxid})
		}
	}
	slices.SortFunc(all, func(a, b own) int {
		x, _ := queue.Sequence(a.node)
		y, _ := queue.Sequence(b.node)
		return int(x) - int(y)
	})
	return all, nil
}

// verified takes the answer to verify.
func (s *session) verified(c *contender, op uint64, found own, err error) {
	s.renewed()
	if c.verifies != op || c.gone { // a newer one, or a create, was started meanwhile
		s.stale.Add(1)
		return
	}
	ev := machine.Event{Op: op}
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
		c.unsure = true
	case err != nil:
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	case found.node == "":
		c.unsure = false
		path := c.at(c.node)
		if !s.leaveShared(c) { // each that held with it finds out for itself
			s.forgetNode(c)
		}
		s.vanished(path)
		ev.Kind = machine.Found
	default:
		c.unsure = false
		ev = s.adopted(c, op, found)
		if ev.Kind == machine.Found && s.lacksEvidence(c) {
			s.after(s.lease.timeout/evidencePerTimeout, func() { s.verifyAgain(c, op) })
			return
		}
	}
	s.tell(c.lock, ev)
}

// lacksEvidence tells whether a contender that waits could not be granted the lock if its turn came now: each look for its
// node adds to the evidence. A node that is to go needs none.
func (s *session) lacksEvidence(c *contender) bool {
	_, valid := s.lease.look()
	return !valid && !c.granted && !c.ends
}

// verifyAgain looks once more for a node that was found, for want of evidence, unless the contender has gone on: a look
// that nobody waits for could find the node gone, and its lock actor would not hear of it.
func (s *session) verifyAgain(c *contender, op uint64) {
	if c.verifies == op && !c.gone && s.connected {
		s.verify(c, op)
	}
}

// adopted notes that a node was found to be the contender's.
func (s *session) adopted(c *contender, op uint64, found own) machine.Event {
	token, err := messages.NewToken(found.czxid, c.place)
	if err != nil {
		c.unsure = true
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonZxidOutOfRange, Detail: err.Error()}
	}
	if c.heir != 0 {
		token = c.heir
	}
	sequence, isContender := c.number(found.node)
	s.have(c, found.node, sequence, token)
	s.rightBefore(c)
	s.startBeating()
	return machine.Event{Kind: machine.Found, Op: op, Node: c.node, Token: token,
		Exhausted: !isContender || queue.Exhausted(sequence)}
}
