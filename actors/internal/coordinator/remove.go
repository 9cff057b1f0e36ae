package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// removal is how the node of a request is removed: for its machine, which has asked for that and is answered, or because its
// lock actor has ended and something may be left. There is one for each request, and it goes on until it is known to be
// done, or the epoch is over.
type removal struct {
	phase removalPhase
	op    uint64 // the newest operation of the machine that waits for it; zero for none
	tries int
	brief bool // it has held for so short a time that its node was not read yet
}

type removalPhase uint8

const (
	noRemoval removalPhase = iota
	// removalWanted: as soon as the create has come back, or the connection.
	removalWanted
	// removing: a delete, or the search for what is to be deleted, is waiting or under way.
	removing
	// removalPaused: it has failed, and is tried again when a timer fires.
	removalPaused
)

// firstRetry is the pause after the first attempt that fails; it grows with each, up to a session timeout.
const firstRetry = 100 * time.Millisecond

// giveUp removes the node of a request that gives the lock up, or back. That it is gone already is success (CURATOR-678).
func (c *Coordinator) giveUp(r *request, e machine.Effect) {
	c.disown(r)
	r.removal.brief = r.own.phase == owed
	if r.own.phase == owed {
		r.own.phase = unwatched
	}
	if c.leavesShared(r) || e.Do == machine.GiveBack && c.retain(r) {
		c.tell(r, machine.Event{Kind: machine.Left, Op: e.Op})
		return
	}
	c.leave(r)
	if e.Do == machine.GiveBack {
		c.handOver(r)
	}
	r.removal.op = e.Op
	c.remove(r)
}

// cleanUp makes sure that nothing of a request is left, without its machine.
func (c *Coordinator) cleanUp(r *request) {
	r.removal.op = 0
	if r.node.phase == retained { // it goes later
		return
	}
	if r.node.phase == present || r.node.phase == unknown {
		c.disown(r)
	}
	if !c.leavesShared(r) {
		c.leave(r)
	}
	c.remove(r)
}

// remove takes the next step of a removal, unless one is under way.
func (c *Coordinator) remove(r *request) {
	switch n := r.node; {
	case r.removal.phase == removing || r.removal.phase == removalPaused:
	case n.phase == creating || n.phase != absent && n.phase != left && c.epoch.connection != connected:
		// What is under way may still make the node; created comes here again, and connect.
		r.removal.phase = removalWanted
	case n.phase == unknown:
		r.removal.phase = removing
		c.find(r, r.removal.op, true)
	case n.exists():
		r.removal.phase = removing
		r.kind.remove(c, r, r.removal.op)
	default:
		c.removalDone(r)
	}
}

// goOnRemoving takes up a removal that had to wait.
func (c *Coordinator) goOnRemoving(r *request) {
	r.removal.phase = noRemoval
	c.cleanUp(r)
}

// removalDone says that nothing of a request is left.
func (c *Coordinator) removalDone(r *request) {
	waits := r.removal.op
	r.removal = removal{}
	if waits != 0 {
		c.tell(r, machine.Event{Kind: machine.Deleted, Op: waits})
	}
	if r.life == ended {
		c.forget(r)
	}
}

// removalFailed tells the machine that waits for it; where none does the removal is tried again after a pause.
func (c *Coordinator) removalFailed(r *request, op uint64, f Failure) {
	switch waits := r.removal.op; {
	case waits == 0:
		c.retryRemoval(r, f)
	case waits != op: // it has asked anew meanwhile
		c.remove(r)
	default:
		r.removal.op = 0
		c.tell(r, failed(op, f))
	}
}

// removalOf is what a RemoveContest is for.
type removalOf struct {
	request RequestID
	op      uint64
	name    string
}

func (p removalOf) answered(c *Coordinator, _ uint64, answer Answer) {
	c.lookAtLease()
	c.removed(c.requests[p.request], p.op, p.name, answer.(*Done).Failure)
}

// removed takes the answer to a delete.
func (c *Coordinator) removed(r *request, op uint64, name string, f Failure) {
	r.removal.phase = noRemoval
	if !f.none() && !f.is(NoNode) {
		c.removalFailed(r, op, f)
		return
	}
	if r.node.name == name {
		c.lose(r)
	}
	c.vanished(r.queue.path, name)
	c.removalDone(r)
}

// foundForRemoval takes the answer to the search for what is left of a request.
func (c *Coordinator) foundForRemoval(r *request, op uint64, a *Found, f Failure) {
	r.removal.phase = noRemoval
	switch {
	case !f.none():
		c.removalFailed(r, op, f)
		return
	case a.Name == "":
		c.lose(r)
	default:
		c.adopt(r, op, a)
		c.leave(r)
	}
	c.remove(r)
}

// retryRemoval tries again after a pause. What may not be deleted at all would keep everybody out for as long as the session
// lives, so the session must not.
func (c *Coordinator) retryRemoval(r *request, f Failure) {
	note := Note{What: NotRemoved, Path: r.spec.Path, Node: r.node.name, Token: int64(r.node.token), Detail: f.Detail}
	if f.is(NoAuth) {
		note.What = MayNotRemove
		c.emit(&note)
		c.doomed = true
		return
	}
	r.removal.tries++
	r.removal.phase = removalPaused
	note.Tries = r.removal.tries
	c.emit(&note)
	c.after(min(time.Duration(r.removal.tries)*firstRetry, c.epoch.timeout), retryDue{r.id})
}

// retryDue says that it is time to try again.
type retryDue struct{ request RequestID }

func (d retryDue) fires(c *Coordinator) {
	if r := c.requests[d.request]; r != nil && r.removal.phase == removalPaused {
		r.removal.phase = noRemoval
		c.remove(r)
	}
}
