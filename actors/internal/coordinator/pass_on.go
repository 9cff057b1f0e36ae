package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// How a node is passed on in its cohort. While the node exists nobody behind it is granted the lock, and each grant has
// the next place of its token: greater than the one before, and less than the token of any node made later. The places
// behind its own are its own where no other node of the lock path was made in its transaction.
//
// That the node exists is known as for every holder: by its create, by a watch, which is asked for with the first grant
// that is passed on, and by heartbeats. An operator who deletes it takes the lock from its holder, who hears of that
// with the event, like every holder. A hold that is taken from its owner is not passed on.

// passOn makes the node of a holder that gives back that of the next in its cohort.
func (c *Coordinator) passOn(r *request) {
	q, n := r.queue, r.node
	k := &q.cohort
	token := n.nextToken()
	next := c.takeNext(k)
	c.leaveTo(r, next)
	n.token, n.place = token, token.Place()
	c.granted(next)
	c.watchServing(q)
	c.emit(&Tell{To: next.id, As: n.by, Handoff: Handoff{r.gaveBack, true},
		Event: machine.Event{Kind: machine.Joined, Op: next.waitsInLine(), Node: n.name, Token: token}})
	if k.grants++; k.grants >= next.spec.Want.Cohort || token.Place() >= messages.MaxPlace {
		c.endCohortOf(q, n)
	}
}

// passPlace gives the node of a request that gives up before it has held to the next in its line, with its place in the
// queue.
func (c *Coordinator) passPlace(r *request) {
	n := r.node
	var next *request
	if len(n.line) > 0 {
		next = c.takeFirst(n)
	} else {
		next = c.takeNext(&r.queue.cohort)
	}
	c.endWait(r)
	c.leaveTo(r, next)
	c.emit(&Tell{To: next.id, As: n.by,
		Event: machine.Event{Kind: machine.Created, Op: next.waitsInLine(), Node: n.name, Token: n.token}})
}

// leaveTo makes the node of one request that of another.
func (c *Coordinator) leaveTo(r, next *request) {
	n := r.node
	c.setHeld(r, false)
	c.unwatchOwn(r)
	r.search, r.early = search{}, nil // what is still under way may find the node when another has it
	r.node = &node{phase: left}
	n.users = []RequestID{next.id}
	next.node = n
}

// watchServing has the session hear when the node that serves a cohort is deleted, or written to.
func (c *Coordinator) watchServing(q *ownQueue) {
	if k := &q.cohort; !k.watched {
		k.watched = true
		c.watchAnew(q, k.node)
	}
}

// watchAnew watches a node that serves a cohort; once more where its watch is spent.
func (c *Coordinator) watchAnew(q *ownQueue, n *node) {
	q.path.watch(n.name, watcher{role: serves, node: n.name})
	c.ask(&Watch{Path: q.path.at(n.name)}, serving{q.path.path, n.name})
}

// serving is what the Watch of a node is for that serves a cohort.
type serving struct{ path, node string }
