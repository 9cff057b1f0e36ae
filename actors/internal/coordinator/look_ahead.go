package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Look-ahead. A request that waits for a node of another session that waits itself would have to
// list the queue again when that node is gone, to know whether it is first: a round trip within the
// hand-off. Instead it watches the node before its predecessor as well. When that node is gone, the
// predecessor probably holds. The queue is listed then, during that hold, and the grant needs
// nothing but the event (look_ahead.txt). Invariant: a wait ends with TurnCame only if its predecessor
// was seen at the head; everybody else lists.
//
// It costs one read for each waiter, and wakes one session more with each release, in a queue of
// any length. The machine hears nothing of it. It does not pay where the predecessor is of the same
// session, which hands over. tests/bench/pair.go says what it gains.

func (a *ahead) note(r *request, position queue.Position) {
	a.next = ""
	if n := len(position.Earlier); n > 1 && r.spec.exclusive() {
		a.next = position.Earlier[n-2]
	}
}

func (a *ahead) end(r *request) {
	if a.watched != "" {
		r.queue.path.unwatch(a.watched, watcher{request: r.id, role: awaitsNode})
		a.watched = ""
	}
}

// lookAhead watches the node before the predecessor, unless the servers have hung up on that, or on an order of the request.
func (c *Coordinator) lookAhead(r *request, predecessor string) {
	before := r.ahead.next
	if r.wait == nil || before == "" || r.pace != nil || r.queue.find(predecessor) != nil || c.off&LookAhead != 0 {
		return
	}
	r.ahead = ahead{watched: before}
	r.queue.path.watch(before, watcher{request: r.id, role: awaitsNode})
	if r.queue.find(before) == nil { // the session hears by itself of its own nodes
		c.ask(&Watch{Path: r.queue.path.at(before)}, lookingAhead{ofWait{operation{r.id, r.wait.op}}, before})
	}
}

type lookingAhead struct {
	ofWait
	node string
}

func (p lookingAhead) answered(c *Coordinator, _ uint64, answer Answer) {
	if r := c.requests[p.request]; r.ahead.watches(p.node) && answer.failure().is(NoNode) {
		c.listAhead(r) // the watch of the predecessor tells of other failures
	}
}

// counted has the request wait without look-ahead, though no order has failed.
func (p lookingAhead) counted(c *Coordinator, f Failure) {
	if r := c.requests[p.request]; r != nil && r.life != ended && r.pace == nil && f.Trouble != "" {
		r.pace = &pace{do: machine.Watch}
	}
}

func (c *Coordinator) listAhead(r *request) {
	r.ahead.end(r)
	if c.epoch.connected {
		c.listFor(r.queue.path, lister{operation{r.id, r.wait.op}, true})
	}
}

// lookedAhead takes the listing. When the node before the predecessor had given up, and others are
// before the predecessor still, the last of them is watched in its place.
func (c *Coordinator) lookedAhead(r *request, op uint64, found *View) {
	if !r.waitsIn(op) || !found.Failure.none() {
		return
	}
	position, shown := found.Queue.Find(r.node.name)
	if w := r.wait; !shown || len(w.nodes) == 0 || w.nodes[0] != position.Predecessor {
		return // the predecessor is gone, and the event on its way
	}
	r.kind.noteListing(r, position, 0)
	if !position.Head {
		c.lookAhead(r, position.Predecessor)
	}
}
