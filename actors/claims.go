package actors

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// claim is an owner's request for a lock. Requests of one owner for one lock would wait for each other for
// ever, as those of Curator's InterProcessSemaphoreMutex do; so they are told apart here, before anything is sent.
type claim struct {
	queueKey
	node, owner string
}

// claimOf is the claim of a contender; false where it makes none: permits of a semaphore are nobody's in
// particular, and an owner without a name is nobody.
func claimOf(c *contender) (claim, bool) {
	return claim{c.queue(), c.spec.node, c.owner}, c.owner != "" && c.style.Mode != messages.Semaphore
}

// kin finds the contender of the same owner that decides about c: one that writes before one that reads. Those
// that are leaving count no more.
func (s *session) kin(c *contender) (found *contender) {
	key, claims := claimOf(c)
	if !claims {
		return nil
	}
	for _, other := range s.claims[key] {
		if other == c || other.joins != 0 {
			continue
		}
		if found == nil || found.reads() && !other.reads() {
			found = other
		}
		if other.reads() && c.reads() {
			return other
		}
	}
	return found
}

func (c *contender) reads() bool { return c.style.Mode == messages.Read }

// stake notes that a contender wants its lock, unless it was noted before.
func (s *session) stake(c *contender) {
	if key, claims := claimOf(c); claims && !c.claimed {
		c.claimed = true
		s.claims[key] = append(s.claims[key], c)
	}
}

// unstake notes that it does not any more, or will not have it for long. Who waits to share its hold has to
// get into the queue.
func (s *session) unstake(c *contender) {
	if !c.claimed {
		return
	}
	c.claimed = false
	key, _ := claimOf(c)
	var kept []*contender
	for _, other := range s.claims[key] {
		if other != c {
			kept = append(kept, other)
		}
	}
	if len(kept) == 0 {
		delete(s.claims, key)
	} else {
		s.claims[key] = kept
	}
	for _, other := range kept {
		s.rejoin(other)
	}
}

// granted notes that a contender holds, and lets those of its owner share it who wait for that.
func (s *session) grantedTo(c *contender) {
	if c.granted {
		return
	}
	s.setGranted(c, true)
	key, _ := claimOf(c)
	for _, other := range append([]*contender(nil), s.claims[key]...) {
		s.rejoin(other)
	}
}

// rejoin asks anew for a contender that waits for another of its owner. While the connection is
// down it does not: the lock actor, which was told so, verifies when it is back, and then asks
// again by itself.
func (s *session) rejoin(c *contender) {
	if op := c.joins; op != 0 && !c.gone && s.connected {
		c.joins = 0
		s.create(c, op)
	}
}

// asKin answers a create by what its owner has already: true where that was the answer.
func (s *session) asKin(c *contender, op uint64) bool {
	other := s.kin(c)
	c.joins = 0
	switch {
	case other == nil && c.under:
		s.refuseKin(c, op, messages.ReasonHoldGone, "")
	case other == nil:
		return false
	case c.reads() && other.style.Mode == messages.Write && other.granted:
		c.under = true
		s.downgrade(c, other, op)
	case c.under && !other.granted: // it has found out that its node is gone, and has not ended yet
		s.refuseKin(c, op, messages.ReasonHoldGone, "")
	case other.reads() && !c.reads():
		s.refuseKin(c, op, messages.ReasonUpgrade, "node "+other.node)
	case c.reads() && other.style.Mode == messages.Write:
		// Its lock actor may have told its owner that it holds, and us not yet; or it is still in the queue.
		c.joins = op
		s.stake(c)
	case !c.reentry || c.reads() != other.reads():
		s.refuseKin(c, op, messages.ReasonReentry, fmt.Sprintf("owner %s, node %s", c.owner, other.node))
	case !other.granted: // in doubt, or still in the queue: see what becomes of it
		c.joins = op
		s.stake(c)
	default:
		c.under = true
		s.join(c, other, op)
	}
	return true
}

func (s *session) refuseKin(c *contender, op uint64, why messages.Reason, detail string) {
	s.tell(c.lock, machine.Event{Kind: machine.NotCreated, Op: op, Reason: why, Detail: detail})
}

// join makes the hold of one contender that of another too: they share the node, which goes with the last.
func (s *session) join(c, other *contender, op uint64) {
	s.stake(c)
	s.compete(c)
	s.shares[other.hold()]++
	s.have(c, other.node, other.sequence, other.token)
	c.heir = other.heir
	c.place, c.mates = other.token.Place(), other.mates // of the node, by which its token is known again
	s.tell(c.lock, machine.Event{Kind: machine.Created, Op: op, Node: c.node, Token: c.token, Alone: true})
}

// leaveShared takes a contender off a node that others hold too; false where nobody does.
func (s *session) leaveShared(c *contender) bool {
	hold := c.hold()
	if c.node == "" || s.shares[hold] == 0 {
		return false
	}
	if s.shares[hold]--; s.shares[hold] == 0 {
		delete(s.shares, hold)
	}
	s.forgetNode(c)
	return true
}

// hold is what contenders share that hold with one node. In a contest the node that comes after one that was deleted
// has the same name, and is another hold.
func (c *contender) hold() string {
	if c.contest() {
		return fmt.Sprintf("%s\x00%d", c.at(c.node), c.token)
	}
	return c.at(c.node)
}
