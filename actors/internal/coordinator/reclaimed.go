package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

func (p seekingLeft) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Left)
	switch {
	case r.life != active: // it was given up meanwhile, and nothing was made
		c.notTakenOver(r, p.op)
	case !a.Failure.none() && a.Failure.Outcome != Refused:
		// Nobody knows: it asks again when it has found no node of its own.
		c.created(r, p.op, Made{}, nil, a.Failure)
	case a.Name == "":
		r.kind.create(c, r, p.op)
	default:
		r.inherited = a.Token
		r.node.says = description{of: r.id}
		name := r.spec.Style.Prefix(r.spec.GUID) + fmt.Sprintf("%010d", a.Number)
		c.ask(&TakeOver{Spec: r.spec, Name: name, Left: *a}, takingOver(p))
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
