package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// remove deletes the contender's node. That it is gone already is success (CURATOR-678).
func (s *session) remove(c *contender, e machine.Effect) {
	c.brief, c.owed = c.owed != 0, 0
	s.unstake(c)
	if c.node == e.Node && s.leaveShared(c) {
		s.tell(c.lock, machine.Event{Kind: machine.Deleted, Op: e.Op})
		return
	}
	if e.Do == machine.GiveBack && s.layDown(c) {
		s.tell(c.lock, machine.Event{Kind: machine.Deleted, Op: e.Op})
		return
	}
	if !c.contest() {
		if c.node == e.Node {
			s.leave(c)
		}
		if e.Do == machine.GiveBack {
			s.handOver(c)
		}
		s.submit(change{contender: c, op: e.Op, node: e.Node})
		return
	}
	sp, me := c.spec, s.identity(c)
	if c.removing {
		c.removeAgain = &e
		return
	}
	c.removing = true
	s.run(func(conn *zkconn.Conn) func() {
		sent, err := deleteNode(conn, sp, e.Node, me)
		return func() { s.removedInContest(c, e, sent, err) }
	})
}

func (s *session) removed(c *contender, e machine.Effect, sent time.Time, err error) {
	ev := machine.Event{Op: e.Op}
	switch {
	case err == nil || errors.Is(err, zkconn.ErrNoNode):
		ev.Kind = machine.Deleted
		if err == nil && !sent.IsZero() {
			s.renewed()
		}
		if c.node == e.Node {
			s.forgetNode(c)
		}
		s.vanished(c.at(e.Node))
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
	default:
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	}
	if !c.gone {
		s.tell(c.lock, ev)
	}
}

// removedInContest is removed for the node of a contest, and takes up what has waited. That node is anybody's who makes
// it: of two who look whether it is ours, and delete it then, the second may delete another's.
func (s *session) removedInContest(c *contender, e machine.Effect, sent time.Time, err error) {
	c.removing = false
	s.removed(c, e, sent, err)
	again := c.removeAgain
	c.removeAgain = nil
	switch {
	case c.settleLater:
		c.settleLater = false
		s.settle(c)
	case again != nil && !c.gone:
		s.remove(c, *again)
	}
}

// deleteNode deletes a node of a request. That of a contest has no name of its own: when somebody else has
// made it since ours was deleted, it is not ours to delete. (Between the look and the delete an operator could
// still do so; ZooKeeper has no delete that looks at the owner.)
func deleteNode(conn *zkconn.Conn, sp *spec, node string, me identity) (sent time.Time, err error) {
	if sp.contest() {
		if ours, err := ownNodes(conn, sp, me); err != nil || len(ours) == 0 {
			return time.Time{}, err
		}
	}
	return conn.Delete(sp.at(node))
}

// deleteAll deletes every node that a contender may have left: the one that is known, or else those
// that carry its GUID.
func deleteAll(conn *zkconn.Conn, sp *spec, node string, me identity) error {
	nodes := []own{{node: node}}
	if node == "" {
		var err error
		if nodes, err = ownNodes(conn, sp, me); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if _, err := deleteNode(conn, sp, n.node, me); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
	}
	return nil
}
