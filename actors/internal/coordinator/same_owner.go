package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Reentrant locks. Requests of one owner for one lock would wait for each other for ever, as with
// Curator's InterProcessSemaphoreMutex. So they are recognised before anything is sent.
// messages.Acquire.Owner says how the second is answered.

// sameOwner finds the request of the same owner that decides about r: one that writes before one
// that reads. Requests that are leaving count no more.
func (c *Coordinator) sameOwner(r *request) (found *request) {
	if r.spec.Owner == "" {
		return nil
	}
	for _, id := range r.queue.owners[r.spec.Owner] {
		other := c.requests[id]
		if other == r || other.sharing.waitingCreate != 0 {
			continue
		}
		if found == nil || found.spec.Reads() && !other.spec.Reads() {
			found = other
		}
		if other.spec.Reads() && r.spec.Reads() {
			return other
		}
	}
	return found
}

// joinOwner notes that a request wants its lock, unless that was noted before.
func (r *request) joinOwner() {
	q := r.queue
	if of := r.spec.Owner; of != "" && !slices.Contains(q.owners[of], r.id) {
		q.owners[of] = append(q.owners[of], r.id)
	}
	if r.spec.One != "" && !slices.Contains(q.members, r.id) {
		q.members = append(q.members, r.id)
	}
}

// leaveOwner notes that a request does not want its lock any more, or is about to leave. Requests
// that wait to share its hold have to queue.
func (c *Coordinator) leaveOwner(r *request) {
	owners := r.queue.owners
	all := owners[r.spec.Owner]
	at := slices.Index(all, r.id)
	switch {
	case at < 0:
	case len(all) == 1:
		delete(owners, r.spec.Owner)
	default:
		owners[r.spec.Owner] = slices.Delete(slices.Clone(all), at, at+1)
		c.createAgain(owners[r.spec.Owner]...)
	}
}

// granted notes that a request holds, and lets requests of its owner share the hold that wait for
// it.
func (c *Coordinator) granted(r *request) {
	if !r.held {
		c.setHeld(r, true)
		if all := r.queue.owners[r.spec.Owner]; len(all) > 1 {
			c.createAgain(all...)
		}
	}
}

// createAgain has the creates of requests that wait for another one tried again, with the input at
// hand.
func (c *Coordinator) createAgain(ids ...RequestID) {
	c.epoch.again = append(c.epoch.again, ids...)
}

// stopsWaiting ends a request's wait for another one; false where it did not wait.
func (r *request) stopsWaiting() bool {
	waited := r.sharing.waitingCreate != 0
	r.sharing.waitingCreate = 0
	return waited
}

// refuse answers a create that no node is made for.
func (c *Coordinator) refuse(r *request, op uint64, why messages.Reason, detail string) {
	c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op, Reason: why, Detail: detail})
}

// downgrade makes a reader's node at the number of a writer that holds, so that nobody who came later can get in
// between when the writer's node goes (Curator's later releases do the same).
func (c *Coordinator) downgrade(r, writer *request, op uint64) {
	name := r.spec.nameAt(writer.node.number)
	if !c.mayTake(r, name) {
		c.refuse(r, op, messages.ReasonRefused, "the delete of its earlier node, "+name+", may still be carried out")
		return
	}
	r.sharing.holdOfOther = true
	c.beginCreating(r)
	r.inherited = writer.node.token
	c.ask(&CreateAt{Spec: r.spec, Name: name, Beside: writer.node.name}, creation{operation: operation{r.id, op}})
}

// beginCreating notes that the node of a request is about to be made.
func (c *Coordinator) beginCreating(r *request) {
	r.joinOwner()
	c.setPhase(r.queue, r.node, creating)
	r.search = search{}
	if r.spec.sharesNode() {
		r.node.says = description{of: r.id}
	}
}

// share lets a request share the hold of another: they have one node, which goes with the last of
// them.
func (c *Coordinator) share(r, other *request, op uint64) {
	r.sharing.holdOfOther = true
	r.joinOwner()
	r.node = other.node
	r.node.users = append(r.node.users, r.id)
	r.inherited = other.inherited
	c.tell(r, machine.Event{Kind: machine.Seated, Op: op, Node: r.node.name, Token: r.node.token})
}
