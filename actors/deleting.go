package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// remove deletes the contender's node. That it is gone already is success (CURATOR-678).
func (s *session) remove(c *contender, e machine.Effect) {
	path := c.path + "/" + e.Node
	s.run(func(conn *zkconn.Conn) func() {
		sent, err := conn.Delete(path)
		return func() { s.removed(c, e, sent, err) }
	})
}

func (s *session) removed(c *contender, e machine.Effect, sent time.Time, err error) {
	ev := machine.Event{Op: e.Op}
	switch {
	case err == nil || errors.Is(err, zkconn.ErrNoNode):
		ev.Kind = machine.Deleted
		if err == nil {
			s.renew(sent)
		}
		if c.node == e.Node {
			s.forgetNode(c)
		}
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
	default:
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	}
	if !c.gone {
		s.tell(c.lock, ev)
	}
}

// deleteAll deletes every node that a contender may have left: the one that is known, or else those
// that carry its GUID.
func deleteAll(conn *zkconn.Conn, path, guid, node string, session int64) error {
	nodes := []own{{node: node}}
	if node == "" {
		var err error
		if nodes, err = ownNodes(conn, path, guid, session); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if _, err := conn.Delete(path + "/" + n.node); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
	}
	return nil
}
