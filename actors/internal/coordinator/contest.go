package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// contest is a lock without a queue: one ephemeral node, and whoever creates it holds. Its name says nothing of whose it is:
// that is in its data, which others may replace, and in the session that owns it.
type contest struct{ line }

func (contest) create(c *Coordinator, r *request, op uint64) {
	c.alone(change{request: r.id, op: op}, creation{})
}

func (contest) waitsFor(*request, *node) bool { return false }

// list: whoever has the node holds.
func (contest) list(c *Coordinator, r *request, op uint64) {
	has := r.node.exists()
	c.tell(r, machine.Event{Kind: machine.Listed, Op: op, First: has, Missing: !has})
}

func (contest) readsLate() bool { return false } // it may be another's by then

// remove deletes the node if it is still the one that this request has made: of two who look whether it is theirs, and delete
// it then, the second could delete another's.
func (contest) remove(c *Coordinator, r *request, op uint64) {
	c.ask(&RemoveContest{Path: r.spec.At(r.spec.One), Czxid: r.node.token.Zxid()}, removalOf{r.id, op, r.spec.One})
}

// belonging is whose the one node of a contest is.
type belonging uint8

const (
	anothers belonging = iota
	mine
	// undecided: a create that is under way may have made it.
	undecided
)

// whose tells whose a node is that was read, for a request that may have made it. The data may say nothing, as when somebody
// has written there that he wants the lock. Then it is that of a request of this session which does not know whether it has
// made it: any will do, for only one takes it, and the others find it taken. But a create that is under way may be answered
// that it has made it.
func (c *Coordinator) whose(r *request, one *OneNode) belonging {
	switch {
	case one == nil || !one.Ours:
		return anothers
	case r.node.exists():
		return belongsIf(one.Czxid == r.node.token.Zxid())
	case one.Czxid <= r.queue.newest || r.node.phase != unknown: // it is, or was, one of others; or this one has made none
		return anothers
	case one.GUID != "":
		return belongsIf(one.GUID == r.node.guid)
	}
	for _, id := range r.queue.members {
		if other := c.requests[id]; other != r && other.node.phase == creating {
			return undecided
		}
	}
	return mine
}

func belongsIf(yes bool) belonging {
	if yes {
		return mine
	}
	return anothers
}
