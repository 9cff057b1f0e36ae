package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Seats. A request holds with a node, and one node may serve many requests, together or one after
// the other. A create asks where the request is to sit (seat), and a request that leaves asks what
// happens to its node (unseat). Both only read: create and giveUp carry the answers out. The
// package doc has a table of the settings that they decide on.

// seatKind says how a create is answered.
type seatKind uint8

const (
	// refused: its owner has the lock in a way that excludes it, or has lost the hold that it was part of.
	refused seatKind = iota
	// awaitsRequest: the create is tried again when another request of its owner has been decided.
	awaitsRequest
	// sharesHold: it holds with the node with which its owner holds (reentry).
	sharesHold
	// makesBeside: it makes a node at the number of the writer that its owner holds with (downgrade). No bound stops that.
	makesBeside
	// hasNode: it was given a node of its session since its machine asked last.
	hasNode
	// joinsReaders: it holds with a node that readers of its cohort hold with.
	joinsReaders
	// lineOfNode: it waits without a node, and is to hold with one that another request has or is to make.
	lineOfNode
	// reuses: it holds with the retained node of its queue, once a check has found that.
	reuses
	// makes: it makes its own node.
	makes
	// awaitsRoom: it makes its own node as soon as retained nodes that are dropped for it are gone.
	awaitsRoom
	// lineOfQueue: it waits without a node until it is called to make one.
	lineOfQueue
	// full: there is no room for its node, and nothing that would call it later.
	full
	// listsFirst: the queue is listed, and then it is known whether it may queue.
	listsFirst
)

// seat is the answer to a create.
type seat struct {
	kind seatKind
	// node is the node that it has, joins, waits for or reuses; nil behind a node that is still to
	// be made.
	node *node
	// of is the request of its owner whose hold it shares, or that it makes its node beside.
	of *request
	// why and detail say why a create is refused.
	why    messages.Reason
	detail string
	// clears: retained nodes are dropped to make room for it, also where they do not suffice.
	clears bool
}

// seat answers a create. A bound on waiters is asked last: it lets the answer stand, refuses it, or has the queue listed
// first.
func (c *Coordinator) seat(r *request) seat { return c.withinBound(r, c.seatBeforeBound(r)) }

// seatBeforeBound answers a create without a bound on waiters. Seats that need no node come first:
// no bound stops them.
func (c *Coordinator) seatBeforeBound(r *request) seat {
	if r.node.phase == present && r.spec.One == "" {
		return seat{kind: hasNode, node: r.node}
	}
	if other := c.sameOwner(r); other != nil || r.sharing.holdOfOther {
		return c.seatWithOwner(r, other)
	}
	if r.spec.sharesNode() {
		if s, found := c.seatInCohort(r); found {
			return s
		}
	}
	if c.mayReuse(r) {
		return seat{kind: reuses, node: c.requests[r.queue.retained.request].node}
	}
	return c.ownSeat(r)
}

// seatWithOwner answers a create by another request of its owner; nil for none. Requests of one
// owner would wait for each other for ever. See messages.Acquire.Owner.
func (c *Coordinator) seatWithOwner(r, other *request) seat {
	reads, ofOther := r.spec.Reads(), r.sharing.holdOfOther
	switch {
	case other == nil:
		return seat{kind: refused, why: messages.ReasonHoldGone}
	case reads && other.spec.Style.Mode == messages.Write && other.held:
		return seat{kind: makesBeside, of: other}
	case ofOther && !other.held: // it has found out that its node is gone, and has not ended yet
		return seat{kind: refused, why: messages.ReasonHoldGone}
	case other.spec.Reads() && !reads:
		return seat{kind: refused, why: messages.ReasonUpgrade, detail: other.node.described()}
	case reads && other.spec.Style.Mode == messages.Write:
		// Its lock actor may have told its owner that it holds, and us not yet; or it is still in the queue.
		return seat{kind: awaitsRequest, of: other}
	case !r.spec.Want.Reentry || reads != other.spec.Reads():
		return seat{kind: refused, why: messages.ReasonReentry,
			detail: fmt.Sprintf("owner %s, %s", r.spec.Owner, other.node.described())}
	case !other.held: // in doubt, or still in the queue: wait until that is decided
		return seat{kind: awaitsRequest, of: other}
	default:
		return seat{kind: sharesHold, node: other.node, of: other}
	}
}

// seatInCohort seats a request on the node of its cohort; false where the request is to have its
// own node.
func (c *Coordinator) seatInCohort(r *request) (s seat, found bool) {
	k := &r.queue.cohort
	none := k.node == nil && k.called == 0
	switch {
	case r.sharing.with != nil: // it asks again
		return seat{kind: lineOfNode, node: r.sharing.with}, true
	case none, k.called == r.id, k.node != nil && k.node == r.node, k.style != r.spec.Style:
		// It leads, or the node is of another style, which other clients might not respect as one of this request.
		return seat{}, false
	case !r.spec.Reads():
		// A retained node serves a cohort only when a request is about to reuse it.
		return seat{kind: lineOfNode, node: k.node}, k.node == nil || k.node.phase != retained || r.queue.retained.next != 0
	case k.node == nil:
		return seat{}, false
	case k.heldByReaders():
		return seat{kind: joinsReaders, node: k.node}, c.letsIn(k.node)
	default: // a reader that only tries makes its own node, which may be let in at once
		return seat{kind: lineOfNode, node: k.node}, !r.spec.Want.Try
	}
}

// mayReuse reports whether the retained node of its queue would do for a request, and is nobody's yet.
func (c *Coordinator) mayReuse(r *request) bool {
	kept := r.queue.retained
	return kept != nil && kept.next == 0 && r.spec.One == "" && c.epoch.connected &&
		c.requests[kept.request].spec.saysTheSame(r.spec)
}

// ownSeat answers the create of a request that needs its own node: by its turn, the line before it,
// and the room.
func (c *Coordinator) ownSeat(r *request) seat {
	q := r.queue
	switch {
	case r.turn.phase == called:
		return seat{kind: makes}
	case r.turn.phase == roomDue:
		return seat{kind: awaitsRoom}
	case r.turn.phase != noTurn, q.line.first != 0, q.room.waiting >= c.bounds.Waiting:
		return seat{kind: lineOfQueue}
	default:
		return c.roomFor(r)
	}
}

// roomFor answers a create by the room for one more node within the weight that the session may
// have.
func (c *Coordinator) roomFor(r *request) seat {
	clears := !c.overShare(r.spec)
	switch {
	case c.fits(r.spec):
		return seat{kind: makes}
	case clears && c.lacks(c.weigh(r.spec)) <= c.epoch.load.going+c.retainedWeight(r.queue):
		return seat{kind: awaitsRoom, clears: true}
	case r.queue.room.nodes > 0:
		return seat{kind: lineOfQueue, clears: clears}
	default:
		return seat{kind: full, clears: clears}
	}
}

// retainedWeight gives the weight of the retained nodes that no request is about to use. It leaves
// one queue out, whose new node needs the room.
func (c *Coordinator) retainedWeight(but *ownQueue) (weight int) {
	if c.epoch.retained == 0 {
		return 0
	}
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			if q != but && q.retained != nil && q.retained.next == 0 {
				weight += c.weigh(c.requests[q.retained.request].node.made)
			}
		}
	}
	return weight
}

// The bound on waiters, as far as the session can apply it without a listing. max_waiters.go
// applies it to a listing.

// queues reports whether a request may have to wait in a seat.
func (s seat) queues() bool {
	return s.kind == lineOfNode || s.kind == makes || s.kind == awaitsRoom || s.kind == lineOfQueue
}

// isBounded reports whether the bound on waiters is still to decide if a request may queue. A
// request that only tries never queues.
func (r *request) isBounded(s seat) bool {
	return r.spec.Want.MaxWaiters > 0 && !r.spec.Want.Try && !r.admitted && s.queues()
}

// withinBound checks an answer against the bound on waiters. It gives the same answer
// where the request need not wait or is let in, a refusal where its own session has too many
// requests before it, and otherwise a listing of the queue.
func (c *Coordinator) withinBound(r *request, s seat) seat {
	if !r.isBounded(s) {
		return s
	}
	ahead := c.ownAhead(r, s)
	switch n := s.node; {
	case r.spec.Permits == 0 && r.exceeds(ahead, 0):
		return r.tooMany(len(ahead))
	case n != nil && (n.phase == retained || c.holdsWith(n)):
		return s
	default:
		return seat{kind: listsFirst}
	}
}

// isBefore reports whether a seat is in the line of a node that is before a number, so that the
// node with that number is behind it.
func (s seat) isBefore(number int32) bool {
	return s.node != nil && s.node.exists() && s.node.number < number
}

// exceeds reports whether a request would have to wait, and behind as many contenders as its bound,
// or more.
func (r *request) exceeds(ahead []queue.Style, permits int) bool {
	return len(ahead) >= r.spec.Want.MaxWaiters && queue.KeptOut(r.spec.Style, ahead, permits)
}

// tooMany is the answer to a request that would queue behind so many.
func (r *request) tooMany(ahead int) seat {
	return seat{kind: refused, why: messages.ReasonQueueFull,
		detail: fmt.Sprintf("%d, and it waits behind fewer than %d", ahead, r.spec.Want.MaxWaiters)}
}

// ownAhead gives the contenders of this session that a request would queue behind: nodes of holders
// and waiters, nodes that are being made, and requests without nodes.
func (c *Coordinator) ownAhead(r *request, s seat) (ahead []queue.Style) {
	q := r.queue
	of := func(ids ...RequestID) {
		for _, id := range ids {
			ahead = append(ahead, c.requests[id].spec.Style)
		}
	}
	for _, n := range q.nodes {
		if s.isBefore(n.number) {
			break
		}
		if n.phase == present || n.phase == retained && q.retained.next != 0 {
			ahead = append(ahead, n.made.Style)
		}
		of(n.line...)
	}
	of(q.cohort.line...)
	if s.node != nil && s.node.exists() {
		return ahead
	}
	for _, sp := range q.coming {
		ahead = append(ahead, sp.Style)
	}
	for id := q.line.first; id != 0; id = c.requests[id].turn.next {
		of(id)
	}
	if leads := c.requests[q.cohort.called]; leads != nil && leads.turn.phase == noTurn && leads.node.phase == absent &&
		(q.retained == nil || q.retained.next != leads.id) {
		of(leads.id)
	}
	return ahead
}

// nodeFate says what happens to the node of a request that leaves.
type nodeFate uint8

const (
	// stillUsed: others hold with it, and it goes with the last of them.
	stillUsed nodeFate = iota
	// nextHolds: the next of its cohort holds with it, at once.
	nextHolds
	// isRetained: nobody holds with it, and the next request of the queue may reuse it.
	isRetained
	// nextWaits: nobody has held with it, and the next of its line waits with it.
	nextWaits
	// goes: it is deleted. The request right behind a holder that gives back holds at once (handOver).
	goes
)

// unseat answers a request that leaves its node: do is the order to give the lock back (GiveBack),
// to give it up (Delete), or to remove the node of an ended lock actor (CleanUp). A hold that is
// taken from its owner goes to nobody.
func (c *Coordinator) unseat(r *request, do machine.Do) nodeFate {
	switch {
	case len(r.node.users) > 1:
		return stillUsed
	case do == machine.CleanUp:
		return goes
	case do == machine.GiveBack && c.mayPassOn(r):
		return nextHolds
	case do == machine.GiveBack && c.mayRetain(r):
		return isRetained
	case c.mayPassOnWaiting(r):
		return nextWaits
	default:
		return goes
	}
}

// mayPassOn reports whether the node of a holder that gives back serves the next of its cohort.
func (c *Coordinator) mayPassOn(r *request) bool {
	n, k := r.node, &r.queue.cohort
	return k.node == n && len(k.line) > 0 && r.held && n.phase == present && !n.wanted && n.hasNextToken() &&
		k.grants < r.spec.Want.Cohort && c.epoch.connected && c.at.Lease.Valid
}

// maxRetained bounds the nodes that a session retains.
const maxRetained = 1024

// mayRetain reports whether the node of a holder that gives back is retained for the next request.
func (c *Coordinator) mayRetain(r *request) bool {
	n, q := r.node, r.queue
	return r.spec.Want.Sticky > 0 && r.held && n.phase == present &&
		!n.wanted && n.hasNextToken() && n.arrivals != othersCame &&
		c.epoch.connected && c.epoch.retained < maxRetained &&
		q.retained == nil && !q.path.waitedFor(n.name) && len(q.cohort.line) == 0 &&
		!c.isDescribed(n) // else the write would look like somebody else's
}

// mayPassOnWaiting reports whether the node of a request that has not held stays, for the next in line to wait with.
func (c *Coordinator) mayPassOnWaiting(r *request) bool {
	n := r.node
	return !r.held && n.phase == present && r.removal.phase == noRemoval && c.epoch.connected &&
		!queue.Exhausted(n.number) && (len(n.line) > 0 || c.leadsUngranted(r))
}

// leadsUngranted reports whether others wait in the cohort of a node that nobody has held with yet.
func (c *Coordinator) leadsUngranted(r *request) bool {
	k := &r.queue.cohort
	return k.node == r.node && k.grants == 0 && len(k.line) > 0
}
