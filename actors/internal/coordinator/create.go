package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

func (c *Coordinator) create(r *request, op uint64) {
	if r.spec.Want.Beside != "" {
		c.downgrade(r, op)
		return
	}
	if why, detail := c.fullFor(r); why != messages.ReasonNone {
		c.refuse(r, op, why, detail)
		return
	}
	c.beginCreating(r)
	if r.spec.Want.Reclaim != "" {
		c.reclaim(r, op)
	} else {
		r.kind.create(c, r, op)
	}
}

// refuse answers a create that no node is made for.
func (c *Coordinator) refuse(r *request, op uint64, why messages.Reason, detail string) {
	r.admitted = false
	c.recount(r)
	c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op, Reason: why, Detail: detail})
}

func (c *Coordinator) beginCreating(r *request) {
	r.admitted, r.node.phase, r.search = true, creating, 0
	if l := &r.queue.path.look; len(l.covered)+len(l.joined) > 0 {
		l.forget(r)
	}
	c.recount(r)
}

// downgrade makes a reader's node at the number of a writer that holds, so that nobody who came later can get in
// between when the writer's node goes (Curator's later releases do the same). A requester of a gateway names a node
// of its own.
func (c *Coordinator) downgrade(r *request, op uint64) {
	beside := r.queue.find(r.spec.Want.Beside)
	if beside == nil || beside.phase != present {
		c.refuse(r, op, messages.ReasonHoldGone, "")
		return
	}
	writer := c.requests[beside.of]
	if !writer.held || writer.spec.Style.Mode != messages.Write || writer.spec.Requester != r.spec.Requester {
		c.refuse(r, op, messages.ReasonHoldGone, "")
		return
	}
	c.beginCreating(r)
	r.inherited = beside.token
	c.ask(&CreateAt{Spec: r.spec, Name: r.spec.nameAt(r.spec.guid(c.epoch.mark, r.node), beside.number), Beside: beside.name}, creation{operation: operation{r.id, op}})
}

// withdraw takes a create back that waits: for the connection, for the end of a pause, or for others. One that is
// under way is answered as ever.
func (c *Coordinator) withdraw(r *request, op uint64) {
	withdrawn := c.unpark(r)
	voided := r.pace.voided()
	withdrawn = withdrawn || voided.Op != 0 && voided.Do == machine.Create
	if c.unsubmit(r) {
		r.node.phase = absent
		withdrawn = true
	}
	if withdrawn {
		c.refuse(r, op, messages.ReasonNone, "")
	}
}

func (p creation) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Created)
	path := r.queue.path
	if how := a.Failure.Outcome; r.inherited == 0 && r.spec.One == "" && (how == Applied || how == Refused) {
		path.info = a.Info // otherwise it may have learnt less than others have
	}
	if r.spec.One != "" && r.polls(p.op) {
		switch {
		case a.Failure.is(NodeExists):
			c.look(path) // else restored servers have brought it back
		case a.Failure.none() && r.wait.pending == 0 && r.queue.find(r.spec.One) == nil: // it waited for the node of another
			c.countPoll(r, Polled, r.spec.One)
		}
	}
	c.created(r, p.op, a.Node, a.Failure)
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

func (c *Coordinator) created(r *request, op uint64, made Made, f Failure) {
	if r.early = made.Early; r.early != nil {
		r.queue.path.noteSize(r.early)
	}
	ev := c.createdEvent(r, made, f)
	ev.Op = op
	if ev.Kind == machine.Created {
		c.beat()
	}
	if ev.Kind != machine.Created || ev.Predecessor != "" || ev.First {
		r.early = nil // its machine does not list now, and later the listing would be out of date
	}
	c.creates(r, ev)
}

// creates tells a request the end of its create, and goes on with what has waited for that.
func (c *Coordinator) creates(r *request, ev machine.Event) {
	c.goOnRemoving(r)
	c.tell(r, ev)
	if r.search != 0 && r.life != ended {
		c.verify(r, r.search)
	}
}

func (c *Coordinator) createdEvent(r *request, made Made, f Failure) machine.Event {
	n := r.node
	switch {
	case f.none() && r.spec.One != "" && r.queue.isPast(made.Czxid):
		// Somebody has deleted it, another request of this session has made the node anew, and the answer
		// to that create came first. The look finds that out, and the guard that may be left is removed.
		n.phase = unknown
		return machine.Event{Kind: machine.Unknown, Detail: "the node is another request's by now"}
	case f.none(), f.Outcome == Refused && made.Name != "": // one that its session may not read is deleted again
	case f.Outcome == Refused:
		n.phase, r.admitted = absent, false
		c.recount(r)
		if r.spec.One != "" && f.Cause == NodeExists {
			return machine.Event{Kind: machine.NodeTaken, Predecessor: r.spec.One}
		}
		why := reason(f)
		if r.spec.Want.Beside != "" && f.Cause == NoNode { // the writer's node is gone
			why = messages.ReasonHoldGone
		}
		return machine.Event{Kind: machine.NotCreated, Reason: why, Detail: f.Detail}
	default: // also when the node is there, but its czxid is not known
		n.phase = unknown
		n.lost = n.lost || f.Outcome == Unknown
		return machine.Event{Kind: machine.Unknown, Detail: f.Detail}
	}
	n.place = made.Place
	token, err := r.token(made.Czxid)
	number, isContender := r.spec.number(made.Name)
	places := c.have(r, made.Name, number, token)
	// The listing need not be of the moment of the create: contenders before a node only become fewer, and a listing that
	// shows the node is not older than the create.
	view := r.early
	first := made.First || view != nil && view.Failure.none() && r.spec.Permits == 0 && view.Queue.First(made.Name)
	ev := machine.Event{
		Kind: machine.Created, Node: made.Name, Token: token, Places: places,
		First:     c.succeed(r, first),
		Exhausted: !isContender || queue.Exhausted(number),
	}
	// One that tells more is to be told how many are before it: it lists the queue.
	if before := r.queue.neighbour(n); before != nil && r.waitsFor(before) && !r.spec.Want.TellMore {
		ev.Predecessor = before.name
	}
	switch {
	case !f.none():
		ev.Exhausted, ev.Reason, ev.Detail = true, reason(f), f.Detail
	case err != nil:
		ev.Exhausted, ev.Reason, ev.Detail = true, messages.ReasonZxidOutOfRange, err.Error()
	}
	return ev
}

func (t transaction) answered(c *Coordinator, _ uint64, answer Answer) {
	a := answer.(*Committed)
	if len(t.exist) > 0 && c.successorLacks(t.exist, a.Failure) { // nothing was done: once more
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
			c.created(r, ch.op, Made{}, a.Failure)
		default:
			r.queue.path.info.Exists = true
			c.created(r, ch.op, a.Made[next], Failure{})
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
		operation
	}
	takingOver struct {
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
		c.created(r, p.op, Made{}, a.Failure)
	case a.Name == "":
		r.kind.create(c, r, p.op)
	default:
		r.inherited = a.Token
		c.ask(&TakeOver{Spec: r.spec, Name: r.spec.nameAt(r.spec.guid(c.epoch.mark, r.node), a.Number), From: *a}, takingOver(p))
	}
}

// notTakenOver answers the create of a request that is not wanted any more.
func (c *Coordinator) notTakenOver(r *request, op uint64) {
	r.node.phase, r.inherited, r.admitted = absent, 0, false
	c.recount(r)
	c.creates(r, machine.Event{Kind: machine.NotCreated, Op: op})
}

func (p takingOver) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Created)
	switch refused := a.Failure.Outcome == Refused && a.Node.Name == ""; {
	case refused && r.life != active:
		c.notTakenOver(r, p.op)
	case refused: // it is gone, or somebody wants it back: as if there had been nothing
		r.inherited = 0
		r.kind.create(c, r, p.op)
	default:
		c.created(r, p.op, a.Node, a.Failure)
	}
}
