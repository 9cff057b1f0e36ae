package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// create has the node of a request made, unless its owner has the lock in another way, or a retained node serves.
func (c *Coordinator) create(r *request, op uint64) {
	if c.answersAsOwner(r, op) {
		return
	}
	c.claim(r)
	if c.reuse(r, op) {
		return
	}
	r.node.phase = creating
	r.looking = looking{}
	r.kind.create(c, r, op)
}

// downgrade makes a reader's node at the number of a writer that holds, so that nobody who came later can get in between when
// the writer's node goes (Curator's later releases do the same).
func (c *Coordinator) downgrade(r, writer *request, op uint64) {
	c.claim(r)
	r.node.phase = creating
	r.looking = looking{}
	r.inherited = writer.node.token
	name := r.spec.Style.Prefix(r.spec.GUID) + fmt.Sprintf("%010d", writer.node.number)
	c.ask(&CreateAt{Spec: r.spec, Name: name, Beside: writer.node.name}, creation{request: r.id, op: op})
}

// creation is what a Create or a CreateAt is for.
type creation struct {
	request RequestID
	op      uint64
	batch   bool // it is one of the transactions of the batch
	probes  bool // others wait for what it learns of the lock path
}

func (p creation) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Created)
	path := r.queue.path
	if how := a.Failure.Outcome; r.inherited == 0 && r.spec.One == "" && (how == Applied || how == Refused) {
		path.info = a.Info // otherwise it may have learnt less than others have
	}
	r.early = a.Early
	c.created(r, p.op, a.Node, a.Existing, a.Failure)
	if p.probes {
		waiting := path.probe.waiting
		path.probe = probe{}
		for _, ch := range waiting {
			c.submit(ch)
		}
	}
	if p.batch {
		c.epoch.batch.underway--
		c.flush()
	}
}

// created takes the answer to the create of a request.
func (c *Coordinator) created(r *request, op uint64, made Made, existing *OneNode, f Failure) {
	ev := c.judgeCreated(r, made, existing, f)
	ev.Op = op
	if ev.Kind == machine.Created {
		c.lookAtLease()
		c.beat()
	}
	if ev.Kind != machine.Created || ev.Predecessor != "" {
		r.early = nil // it does not list, and by the time that it does this would be out of date
	}
	looks := r.looking.later
	r.looking.later = 0
	if r.removal.phase == removalWanted {
		c.goOnRemoving(r)
	}
	c.tell(r, ev)
	if looks != 0 && r.life != ended {
		c.verify(r, looks)
	}
}

// judgeCreated turns the answer to a create into an event, and notes what it means for the node.
func (c *Coordinator) judgeCreated(r *request, made Made, existing *OneNode, f Failure) machine.Event {
	n := r.node
	switch {
	case existing != nil && existing.Ours && existing.GUID == r.spec.GUID && existing.Czxid > r.queue.newest: // the reply to an earlier create was lost
		made = Made{Name: r.spec.One, Czxid: existing.Czxid, Siblings: 1}
	case existing != nil:
		n.phase = absent
		return machine.Event{Kind: machine.Taken, Predecessor: r.spec.One}
	case f.none():
	case made.Name == "" && f.Outcome == Refused:
		n.phase = absent
		c.disown(r)
		why := reason(f)
		if r.inherited != 0 && f.Cause == NoNode { // the writer's node is gone
			why = messages.ReasonHoldGone
		}
		return machine.Event{Kind: machine.NotCreated, Reason: why, Detail: f.Detail}
	default: // also when the node is there, but its czxid could not be had
		n.phase = unknown
		return machine.Event{Kind: machine.Unknown, Detail: f.Detail}
	}
	n.place = made.Place
	token, err := n.tokenOf(r, made.Czxid)
	number, isContender := r.spec.number(made.Name)
	c.have(r, made.Name, number, token)
	ev := machine.Event{
		Kind: machine.Created, Node: made.Name, Token: token,
		Alone:       made.Place == 0 && made.Siblings == max(made.Together, 1),
		Predecessor: r.queue.rightBefore(r),
		Exhausted:   !isContender || queue.Exhausted(number),
	}
	if err != nil {
		ev.Exhausted, ev.Reason, ev.Detail = true, messages.ReasonZxidOutOfRange, err.Error()
	}
	return ev
}

// number gives the sequence number of the request's node; that of a contest has none, and needs none.
func (sp *Spec) number(name string) (int32, bool) {
	if sp.One != "" {
		return 0, true
	}
	return queue.Sequence(name)
}

// withdraw takes a create back that waits: for the connection, for another of its owner, for the check of a retained node, or
// for others. One that is under way is answered as ever.
func (c *Coordinator) withdraw(r *request, op uint64) {
	waits := c.decline(r)
	c.disown(r)
	waits = c.unpark(r) || waits
	waits = c.stopsWaiting(r) || waits
	if c.ungather(r) {
		r.node.phase = absent
		waits = true
	}
	if waits {
		c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op})
	}
}
