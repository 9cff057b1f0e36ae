package coordinator

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Requests of one owner for one lock would wait for each other for ever, as those of Curator's InterProcessSemaphoreMutex
// do; so they are told apart before anything is sent. See messages.Acquire.Owner for what becomes of the second.

// sharing is how a request stands towards others of its owner.
type sharing struct {
	// waits is the create that waits for what becomes of another; zero for none.
	waits uint64
	// under: it is, or was to be, part of another's hold, and not one of its own.
	under bool
}

// hasOwner tells whether a request is one of somebody: permits of a semaphore are nobody's in particular.
func (r *request) hasOwner() bool { return r.spec.Owner != "" && r.spec.Permits == 0 }

// sameOwner finds the request of the same owner that decides about r: one that writes before one that reads. Those that
// are leaving count no more.
func (c *Coordinator) sameOwner(r *request) (found *request) {
	if !r.hasOwner() {
		return nil
	}
	for _, id := range r.queue.owners[r.spec.Owner] {
		other := c.requests[id]
		if other == r || other.sharing.waits != 0 {
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

// claim notes that a request wants its lock, unless that was noted before.
func (c *Coordinator) claim(r *request) {
	owners := r.queue.owners
	if r.hasOwner() && !slices.Contains(owners[r.spec.Owner], r.id) {
		owners[r.spec.Owner] = append(owners[r.spec.Owner], r.id)
	}
	if q := r.queue; r.spec.One != "" && !slices.Contains(q.members, r.id) {
		q.members = append(q.members, r.id)
	}
}

// disown notes that it does not any more, or will not have it for long. Who waits to share its hold has to get into the
// queue.
func (c *Coordinator) disown(r *request) {
	owners := r.queue.owners
	all := owners[r.spec.Owner]
	at := slices.Index(all, r.id)
	if at < 0 {
		return
	}
	if len(all) == 1 {
		delete(owners, r.spec.Owner)
		return
	}
	left := slices.Delete(slices.Clone(all), at, at+1)
	owners[r.spec.Owner] = left
	c.askAgain(left)
}

// granted notes that a request holds, and lets those of its owner share it who wait for that.
func (c *Coordinator) granted(r *request) {
	if !r.held {
		c.setHeld(r, true)
		if all := r.queue.owners[r.spec.Owner]; len(all) > 1 {
			c.askAgain(slices.Clone(all))
		}
	}
}

// askAgain asks anew for those who wait for another of their owner. While the connection is down it does not: the machine,
// which was told so, verifies when it is back, and then asks again by itself.
func (c *Coordinator) askAgain(ids []RequestID) {
	for _, id := range ids {
		if r := c.requests[id]; r != nil && r.sharing.waits != 0 && r.life != ended && c.epoch.connection == connected {
			op := r.sharing.waits
			r.sharing.waits = 0
			c.create(r, op)
		}
	}
}

// stopsWaiting ends that a request waits for another of its owner; false where it did not.
func (c *Coordinator) stopsWaiting(r *request) bool {
	waited := r.sharing.waits != 0
	r.sharing.waits = 0
	return waited
}

// answersAsOwner answers a create by what its owner has already: true where that was the answer.
func (c *Coordinator) answersAsOwner(r *request, op uint64) bool {
	other := c.sameOwner(r)
	r.sharing.waits = 0
	reads, under := r.spec.Reads(), r.sharing.under
	switch {
	case other == nil && under:
		c.refuse(r, op, messages.ReasonHoldGone, "")
	case other == nil:
		return false
	case reads && other.spec.Style.Mode == messages.Write && other.held:
		r.sharing.under = true
		c.downgrade(r, other, op)
	case under && !other.held: // it has found out that its node is gone, and has not ended yet
		c.refuse(r, op, messages.ReasonHoldGone, "")
	case other.spec.Reads() && !reads:
		c.refuse(r, op, messages.ReasonUpgrade, "node "+other.node.name)
	case reads && other.spec.Style.Mode == messages.Write:
		// Its lock actor may have told its owner that it holds, and us not yet; or it is still in the queue.
		c.waitForOwner(r, op)
	case !r.spec.Want.Reentry || reads != other.spec.Reads():
		c.refuse(r, op, messages.ReasonReentry, fmt.Sprintf("owner %s, node %s", r.spec.Owner, other.node.name))
	case !other.held: // in doubt, or still in the queue: see what becomes of it
		c.waitForOwner(r, op)
	default:
		r.sharing.under = true
		c.share(r, other, op)
	}
	return true
}

func (c *Coordinator) waitForOwner(r *request, op uint64) {
	r.sharing.waits = op
	c.claim(r)
}

func (c *Coordinator) refuse(r *request, op uint64, why messages.Reason, detail string) {
	c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op, Reason: why, Detail: detail})
}

// share makes the hold of one request that of another too: they have one node, which goes with the last.
func (c *Coordinator) share(r, other *request, op uint64) {
	c.claim(r)
	r.node = other.node
	r.node.users = append(r.node.users, r.id)
	r.inherited = other.inherited
	c.tell(r, machine.Event{Kind: machine.Joined, Op: op, Node: r.node.name, Token: r.node.token})
}

// leavesShared takes a request off a node that others hold too; false where nobody does. The node may have its GUID, and is
// not to be found by it any more.
func (c *Coordinator) leavesShared(r *request) bool {
	if len(r.node.users) < 2 {
		return false
	}
	c.lose(r)
	r.node.phase = left
	return true
}
