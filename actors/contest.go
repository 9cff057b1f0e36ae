package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// A contest has one ephemeral node, and whoever creates it holds. The node's name says nothing of whose it is:
// that is in its data, and in the session that owns it.

// identity is by what a contender knows its node again.
type identity struct {
	session int64 // that owns it
	czxid   int64 // that made it, where that is known
	// alone: no other request of the session takes part in the contest, so that a node of the session is
	// this one's even when its data were replaced, as by somebody who asks for the lock.
	alone bool
}

func (s *session) identity(c *contender) identity {
	me := identity{session: s.lease.session}
	if c.contest() {
		me.alone = s.contests[c.at(c.spec.node)] < 2
		if !c.unsure {
			me.czxid = c.token.Zxid()
		}
	}
	return me
}

// compete counts a contender into its contest, once; retire takes it out.
func (s *session) compete(c *contender) {
	if c.contest() && !c.competes {
		c.competes = true
		s.contests[c.at(c.spec.node)]++
	}
}

func (s *session) retire(c *contender) {
	if !c.competes {
		return
	}
	c.competes = false
	path := c.at(c.spec.node)
	if s.contests[path]--; s.contests[path] == 0 {
		delete(s.contests, path)
	}
}

// createContest makes the one node of a contest, or finds that it is ours already: then the reply to an
// earlier create was lost. It returns zkconn.ErrNodeExists where it is another's.
func createContest(conn *zkconn.Conn, sp *spec, me identity) (zkconn.Created, error) {
	made, err := conn.CreateNamed(sp.path, sp.node, sp.data(0), "")
	if errors.Is(err, zkconn.ErrNoNode) && made.Name == "" && sp.path != "" {
		if err := conn.EnsureParents(sp.path); err != nil {
			return zkconn.Created{}, err
		}
		made, err = conn.CreateNamed(sp.path, sp.node, sp.data(0), "")
	}
	made.Siblings = 1 // nobody can be before us
	if !errors.Is(err, zkconn.ErrNodeExists) {
		return made, err
	}
	ours, lookErr := ownContest(conn, sp, me)
	switch {
	case lookErr != nil && zkconn.OutcomeOf(lookErr) != zkconn.Refused:
		return zkconn.Created{}, lookErr
	case len(ours) == 1:
		made.Name, made.Czxid = sp.node, ours[0].czxid
		return made, nil
	}
	return zkconn.Created{}, err
}

// ownContest gives the one node of a contest, where it is ours.
func ownContest(conn *zkconn.Conn, sp *spec, me identity) ([]own, error) {
	data, stat, err := conn.Get(sp.at(sp.node))
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !me.owns(sp, data, stat) {
		return nil, nil
	}
	return []own{{node: sp.node, czxid: stat.Czxid}}, nil
}

// owns tells whether the one node of a contest is this contender's.
func (me identity) owns(sp *spec, data []byte, stat zkconn.Stat) bool {
	if stat.EphemeralOwner != me.session {
		return false
	}
	if me.czxid != 0 {
		return stat.Czxid == me.czxid
	}
	if o, ours := queue.ParseOwner(data); ours && o.ID != "" {
		return o.ID == sp.guid
	}
	return me.alone
}
