package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// create gives a request the seat that it is due.
func (c *Coordinator) create(r *request, op uint64) {
	r.sharing.waitingCreate = 0
	c.takeSeat(r, op, c.seat(r))
}

// takeSeat carries out the seat with which a create is answered.
func (c *Coordinator) takeSeat(r *request, op uint64, s seat) {
	r.admitted = r.admitted || r.isBounded(s)
	switch s.kind {
	case refused, awaitsRequest, sharesHold, makesBeside:
		c.sitWithOwner(r, op, s)
		c.leaveCohort(r)
	case listsFirst:
		c.countAhead(r, op)
	case hasNode:
		c.tellNode(r, op)
	default:
		r.joinOwner()
		c.keepReadersBehind(r)
		c.sit(r, op, s)
	}
	if s.kind != lineOfQueue && s.kind != awaitsRoom {
		c.leaveLine(r)
	}
}

// sitWithOwner carries out a seat that another request of the owner decides.
func (c *Coordinator) sitWithOwner(r *request, op uint64, s seat) {
	switch s.kind {
	case refused:
		c.refuse(r, op, s.why, s.detail)
	case awaitsRequest:
		r.sharing.waitingCreate = op
		r.joinOwner()
	case sharesHold:
		c.share(r, s.of, op)
	default:
		c.downgrade(r, s.of, op)
	}
}

// sit carries out a seat in a cohort, or has the request make a node of its own.
func (c *Coordinator) sit(r *request, op uint64, s seat) {
	switch s.kind {
	case joinsReaders:
		c.letIn(r, s.node, op)
		return
	case lineOfNode:
		c.enterLineOf(r, s.node, op)
		return
	}
	if r.spec.sharesNode() {
		c.endClosedReaders(r)
		r.mayLead()
	}
	if s.kind == reuses {
		c.checkRetained(r, op)
		return
	}
	if kept := r.queue.retained; kept != nil && kept.next == 0 && r.spec.One == "" {
		c.dropRetained(r.queue) // its data do not describe this request
	}
	if s.clears {
		c.dropRetainedFor(c.weigh(r.spec))
	}
	switch s.kind {
	case makes:
		c.leaveLine(r)
		r.lead()
		c.beginCreating(r)
		if r.spec.Want.Reclaim != "" {
			c.reclaim(r, op)
		} else {
			r.kind.create(c, r, op)
		}
	case awaitsRoom:
		c.awaitRoom(r)
		r.sharing.waitingCreate = op
	case full:
		c.refuseFull(r, op)
	default:
		c.lineUp(r, op)
	}
}

func (p countingAhead) answered(c *Coordinator, id uint64, answer Answer) {
	r, view := c.requests[p.request], &answer.(*Listed).View
	if view.Failure.none() {
		r.queue.path.noteSize(view)
		for _, before := range append(c.takeLooksBefore(r, id), p) {
			c.decideByLook(c.requests[before.request], before.op, view, p.ours)
		}
		return
	}
	r.sharing.waitingCreate = 0
	switch f := view.Failure; {
	case f.is(NoPermits):
		c.refuse(r, p.op, messages.ReasonPermits, fmt.Sprintf("data of %s: %s", r.spec.Path, f.Detail))
	case f.Outcome == Refused:
		c.refuse(r, p.op, reason(f), f.Detail)
	default:
		c.tell(r, machine.Event{Kind: machine.Unknown, Op: p.op, Detail: f.Detail})
	}
}

// decideByLook gives a request the seat that it is due, by the queue as it was listed.
func (c *Coordinator) decideByLook(r *request, op uint64, view *View, ours []string) {
	r.sharing.waitingCreate = 0
	c.takeSeat(r, op, c.withinBoundOf(view, ours, r, c.seatBeforeBound(r)))
}

// retryCreates retries creates that wait for another request to be decided. It retries none while the
// connection is down: the machine, which was told so, verifies when the connection is back, and then
// asks again by itself.
func (c *Coordinator) retryCreates() {
	for len(c.epoch.again) > 0 {
		r := c.requests[c.epoch.again[0]]
		c.epoch.again = c.epoch.again[1:]
		if r != nil && r.sharing.waitingCreate != 0 && r.life != ended && c.epoch.connected {
			c.create(r, r.sharing.waitingCreate)
		}
	}
	c.epoch.again = nil
}

// withdraw takes a create back that waits: for the connection, for another request, for the check of a retained node,
// or for others. One that is under way is answered as ever.
func (c *Coordinator) withdraw(r *request, op uint64) {
	withdrawn := c.declineReuse(r)
	c.leaveOwner(r)
	withdrawn = c.unpark(r) || withdrawn
	voided := r.pace.voided()
	withdrawn = voided.Op != 0 && voided.Do == machine.Create || withdrawn
	withdrawn = r.stopsWaiting() || withdrawn
	if c.unsubmit(r) {
		c.setPhase(r.queue, r.node, absent)
		c.endCohortOf(r.queue, r.node)
		withdrawn = true
	}
	c.leaveCohort(r)
	c.leaveLine(r)
	if withdrawn {
		c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op})
	}
}

func (p creation) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Created)
	path := r.queue.path
	if how := a.Failure.Outcome; r.inherited == 0 && r.spec.One == "" && (how == Applied || how == Refused) {
		path.info = a.Info // otherwise it may have learnt less than others have
	}
	c.noteEarly(r, a.Early)
	if r.spec.One != "" && r.polls(p.op) && r.wait.pending == 0 && a.Failure.none() && a.Existing == nil &&
		r.queue.find(r.spec.One) == nil { // it waited for the node of another
		c.countPoll(r, r.spec.One)
	}
	c.created(r, p.op, a.Node, a.Existing, a.Failure)
	if p.looksUp {
		waiting := path.lookup.waiting
		path.lookup = pathLookup{}
		for _, ch := range waiting {
			c.submit(ch)
		}
	}
	if p.batch {
		c.epoch.batch.underway--
		c.flush()
	}
}

// noteEarly keeps the listing that was read behind the create of a request.
func (c *Coordinator) noteEarly(r *request, view *View) {
	if r.early = view; view != nil {
		r.queue.path.noteSize(view)
	}
}

// first reports whether nobody is known to be before a new node. The listing need not be of the
// moment of the create: contenders before a node only become fewer, and a listing that shows the
// node is not older than the create.
func (r *request) first(made Made) bool {
	view := r.early
	return made.First || view != nil && view.Failure.none() && r.spec.Permits == 0 && view.Queue.First(made.Name) ||
		r.spec.exclusive() && r.queue.follows(r.node)
}

// created takes the answer to the create of a request.
func (c *Coordinator) created(r *request, op uint64, made Made, existing *OneNode, f Failure) {
	ev := c.createdEvent(r, made, existing, f)
	ev.Op = op
	if ev.Kind == machine.Created {
		c.beat()
	}
	if ev.Kind != machine.Created || ev.Predecessor != "" || ev.First {
		r.early = nil // its machine does not list now, and later the listing would be out of date
	}
	later := r.search.later
	r.search.later = 0
	c.goOnRemoving(r)
	c.tell(r, ev)
	if later != 0 && r.life != ended {
		c.verify(r, later)
	}
}

// createdEvent turns the answer to a create into an event, and updates the node.
func (c *Coordinator) createdEvent(r *request, made Made, existing *OneNode, f Failure) machine.Event {
	n := r.node
	switch {
	case existing != nil && existing.Ours && existing.GUID == r.spec.GUID && existing.Czxid > r.queue.newest:
		made = Made{Name: r.spec.One, Czxid: existing.Czxid, First: true} // the reply to an earlier create was lost
		n.guard = existing.Guard
	case existing != nil:
		n.guard = ""
		c.setPhase(r.queue, n, absent)
		return machine.Event{Kind: machine.SeatTaken, Predecessor: r.spec.One}
	case f.none() && r.spec.One != "" && made.Czxid < r.queue.newest:
		// Somebody has deleted it, another request of this session has made the node anew, and the answer
		// to that create came first. The search finds that out, and deletes the guard that may be left.
		c.setPhase(r.queue, n, unknown)
		return machine.Event{Kind: machine.Unknown, Detail: "the node is another request's by now"}
	case f.none():
	case made.Name == "" && f.is(NodeExists) && r.spec.One == "":
		// An older create of this request, whose reply was lost, has made a node of the same name: the search finds it.
		c.setPhase(r.queue, n, unknown)
		return machine.Event{Kind: machine.Unknown, Detail: f.Detail}
	case made.Name == "" && f.Outcome == Refused:
		n.guard = ""
		c.setPhase(r.queue, n, absent)
		c.endCohortOf(r.queue, n)
		c.leaveOwner(r)
		why := reason(f)
		if r.inherited != 0 && f.Cause == NoNode { // the writer's node is gone
			why = messages.ReasonHoldGone
		}
		return machine.Event{Kind: machine.NotCreated, Reason: why, Detail: f.Detail}
	default: // also when the node is there, but its czxid is not known
		c.setPhase(r.queue, n, unknown)
		n.lost = n.lost || f.Outcome == Unknown
		return machine.Event{Kind: machine.Unknown, Detail: f.Detail}
	}
	n.place = made.Place
	token, err := r.token(made.Czxid)
	number, isContender := r.spec.number(made.Name)
	ev := machine.Event{
		Kind: machine.Created, Node: made.Name, Token: token, Places: c.have(r, made.Name, number, token),
		First:     r.first(made),
		Exhausted: !isContender || queue.Exhausted(number),
	}
	// One that tells more is to be told how many are before it: it lists the queue.
	if before := r.queue.neighbour(n); before != nil && r.kind.waitsFor(r, before) && !r.spec.Want.TellMore {
		ev.Predecessor = before.name
	}
	c.succeed(r, ev.First)
	if err != nil {
		ev.Exhausted, ev.Reason, ev.Detail = true, messages.ReasonZxidOutOfRange, err.Error()
	}
	return ev
}

func (t transaction) answered(c *Coordinator, _ uint64, answer Answer) {
	a := answer.(*Committed)
	if c.successorMissing(t.exist, a.Failure) || c.successorUnread(t.exist, a.Failure) { // nothing was done: once more
		if len(t.changes) == 1 && t.changes[0].node != "" {
			c.sendSingly(t.changes[0], t.batch)
		} else {
			c.commit(t.changes)
		}
		return
	}
	if t.batch {
		c.epoch.batch.underway--
	}
	if f := a.Failure; !f.none() && f.Outcome != Unknown && f.Outcome != Deferred && len(t.changes) > 1 {
		// Nothing was done, because one part was refused. The others are not to blame.
		for _, ch := range t.changes {
			c.sendSingly(ch, false)
		}
		c.flush()
		return
	}
	next := 0
	for _, ch := range t.changes {
		r := c.requests[ch.request]
		switch {
		case ch.node != "":
			c.removed(r, ch.op, ch.node, a.Failure)
		case !a.Failure.none():
			c.created(r, ch.op, Made{}, nil, a.Failure)
		default:
			r.queue.path.info.Exists = true
			c.noteEarly(r, a.Early[next])
			c.created(r, ch.op, a.Made[next], nil, Failure{})
			next++
		}
	}
	c.flush()
}

// Reclaiming: a request with a reclaim key takes over the node with which an earlier process held
// under the same key. The shell knows that no process uses the session of that node any more.
// messages.Acquire.Reclaim describes it; package carrier has the search for the node.
//
// Nobody else can hold in between: the old node, the first of the queue, is deleted and the new one made at its
// number in one transaction, which is refused when the old one is gone or was written to. A contender that waits for
// the old node knows by its name that its end says nothing (queue.Reclaimable), lists the queue, and finds the new
// one in its place.
//
// The token is not made of the new node's czxid, because that would be greater than the tokens of
// the contenders that wait behind it. It is the place after the newest that the earlier process may
// have held with. It is chosen before the node is made, so a node whose reply was lost is found
// with the same token.

// reclaim has the servers asked for a node to take over, before the node of a request is made.
func (c *Coordinator) reclaim(r *request, op uint64) {
	r.inherited = 0 // of an attempt before, which has come to nothing
	c.ask(&SeekReclaimable{Spec: r.spec}, seekingReclaimable{operation: operation{r.id, op}})
}

// seekingReclaimable is the purpose of a SeekReclaimable, takingOver the purpose of a TakeOver. The
// request is creating meanwhile.
type (
	seekingReclaimable struct {
		neverStale
		operation
	}
	takingOver struct {
		neverStale
		operation
	}
)

func (p seekingReclaimable) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Reclaimable)
	switch {
	case r.life != active: // it was given up meanwhile, and nothing was made
		c.notTakenOver(r, p.op)
	case !a.Failure.none() && a.Failure.Outcome != Refused:
		// The answer is unknown: the request asks again when it has found no node of its own.
		c.created(r, p.op, Made{}, nil, a.Failure)
	case a.Name == "" || !c.mayTake(r, r.spec.nameAt(a.Number)):
		r.kind.create(c, r, p.op)
	default:
		name := r.spec.nameAt(a.Number)
		r.inherited, r.takeOver = a.Token, takeOver{name, a.Token}
		c.ask(&TakeOver{Spec: r.spec, Name: name, From: *a}, takingOver(p))
	}
}

// notTakenOver answers the create of a request that is not wanted any more.
func (c *Coordinator) notTakenOver(r *request, op uint64) {
	later := r.search.later
	r.search.later = 0
	c.setPhase(r.queue, r.node, absent)
	c.leaveOwner(r)
	c.goOnRemoving(r)
	c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op})
	if later != 0 && r.life != ended {
		c.verify(r, later)
	}
}

func (p takingOver) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Created)
	switch refused := a.Failure.Outcome == Refused && a.Node.Name == ""; {
	case refused && r.life != active:
		r.inherited = 0
		c.notTakenOver(r, p.op)
	case refused: // it is gone, or somebody wants it back: as if there had been nothing
		r.inherited = 0
		r.kind.create(c, r, p.op)
	default:
		c.created(r, p.op, a.Node, nil, a.Failure)
	}
}
