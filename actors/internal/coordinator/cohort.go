package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Cohorts (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012). Requests of one session for one lock
// that ask for it share one node. The first request makes it and leads: it waits behind the other
// sessions like any contender. Later requests have no node and nothing at the servers. When a
// holder gives back, the next of them holds with the same node, at once, and with the next place of
// the node's token.
//
// A node serves as many grants as its holder asks for, and for a bounded time. Then, and when somebody wants the lock
// back, the cohort ends: the last holder keeps the node until it gives back, and the next request that waits makes a
// node of its own, behind the sessions that wait meanwhile, and leads from then on. So nobody waits for more than one
// cohort of each other session.
//
// The line outlives a connection, and an epoch. The machines of those in it find out where they stand, and ask again, in
// any order; calls that were made while the connection was down ask before them.
//
// Readers hold with the node together, and stand in a line of their own.

// cohortsPerTimeout bounds the time for which one node serves: so many sessions have their turn within a session
// timeout, however long each grant is held for.
const cohortsPerTimeout = 20

// enterLineOf has a request wait for the node of its cohort; nil for one that is still to be made.
func (c *Coordinator) enterLineOf(r *request, n *node, op uint64) {
	k := &r.queue.cohort
	r.sharing.lineCreate = op
	switch {
	case r.sharing.with != nil, r.sharing.inLine: // it asks again
	case k.style.Mode == messages.Read:
		c.lineUpReader(r)
	default:
		r.lineUpInCohort()
	}
	c.tellTaken(r, op, n)
}

// lineUpInCohort has a request wait in its cohort. One that has asked before stands before those that came after it.
func (r *request) lineUpInCohort() {
	k := &r.queue.cohort
	at, _ := slices.BinarySearch(k.line, r.id)
	k.line = slices.Insert(k.line, at, r.id)
	r.sharing.inLine = true
}

// lineUpReader has a reader wait for the node of its cohort. When the node may serve no more, the
// next reader leads.
func (c *Coordinator) lineUpReader(r *request) {
	k := &r.queue.cohort
	n := k.node
	r.sharing.with = n
	if n.line = append(n.line, r.id); len(n.line)+1 >= r.spec.Want.Cohort {
		k.node = nil
	}
}

// mayLead notes that a request is to make the node of its cohort, where nobody is. Others wait for it from now on, also
// while it stands in the line of the queue.
func (r *request) mayLead() {
	if k := &r.queue.cohort; !r.spec.Reads() && k.node == nil && k.called == 0 {
		k.called, k.style = r.id, r.spec.Style
	}
}

// tellTaken tells a request that it is to wait for a node; nil for one that is to be made.
func (c *Coordinator) tellTaken(r *request, op uint64, n *node) {
	tell := &Tell{To: r.id, Event: machine.Event{Kind: machine.SeatTaken, Op: op}}
	if n != nil {
		tell.Predecessor, tell.Event.Predecessor = c.predecessorNode(r.queue, n), n.name
	}
	if r.life != ended {
		c.emit(tell)
	}
}

// lead notes that the node of a request is to serve the cohort of its queue.
func (r *request) lead() {
	k := &r.queue.cohort
	if !r.spec.sharesNode() || k.node != nil || k.called != 0 && k.called != r.id {
		return
	}
	k.node, k.called, k.grants = r.node, 0, 0
	k.style, k.watched = r.spec.Style, false
}

// leaveCohort notes that a request does not wait any more, or is not to lead.
func (c *Coordinator) leaveCohort(r *request) {
	k := &r.queue.cohort
	if n := r.sharing.with; n != nil {
		r.sharing.with = nil
		n.line = slices.DeleteFunc(n.line, func(id RequestID) bool { return id == r.id })
	}
	if r.sharing.inLine {
		r.sharing.inLine = false
		k.line = slices.DeleteFunc(k.line, func(id RequestID) bool { return id == r.id })
	}
	if k.called == r.id {
		k.called = 0
		c.callNext(r.queue)
	}
}

// lineOp is the operation in which the machine of a request waits, or waited, in a cohort: the one
// after its create, for it has heard that the node is taken before anything else. When its machine
// has gone on since, because the connection was lost or it looks again, an event with that
// operation is void. It asks for a node again then, or whether it has one, and is told of the node
// that it was given.
func (r *request) lineOp() uint64 { return r.sharing.lineCreate + 1 }

// tellNode tells a request that asks for a node of the node that it was given since its machine
// asked last: its cohort's, or a retained one.
func (c *Coordinator) tellNode(r *request, op uint64) {
	n, kind := r.node, machine.Created
	if r.held {
		kind = machine.Seated
	}
	c.emit(&Tell{To: r.id, As: n.by, Event: machine.Event{Kind: kind, Op: op, Node: n.name, Token: n.token}})
}

// takeNext takes the next request that waits off the cohort's line.
func (c *Coordinator) takeNext(k *cohort) *request {
	r := c.requests[k.line[0]]
	if k.line = k.line[1:]; len(k.line) == 0 {
		k.line = nil
	}
	r.sharing.inLine = false
	return r
}

// callNext has the first waiter make a node and lead, where nobody leads.
func (c *Coordinator) callNext(q *ownQueue) {
	k := &q.cohort
	if k.node != nil || k.called != 0 || len(k.line) == 0 || !c.epoch.connected {
		return
	}
	next := c.takeNext(k)
	k.called = next.id
	c.tell(next, machine.Event{Kind: machine.PredecessorGone, Op: next.lineOp()})
}

// keepLine ends a cohort of which nothing more is heard, for the connection is lost. Its requests wait on, in their order.
func (c *Coordinator) keepLine(q *ownQueue) {
	if called := c.requests[q.cohort.called]; called != nil && called.node.phase == absent {
		called.lineUpInCohort()
	}
	k := &q.cohort
	if *k = (cohort{style: k.style, line: k.line}); len(k.line) == 0 {
		*k = cohort{}
	}
}

// callFirst calls the first that waits in each cohort to lead, with a new connection. It is not told: its machine asks by
// itself. One that was to lead until the connection was lost, and stands behind it, needs no room for a node of its own.
func (c *Coordinator) callFirst() {
	for _, r := range c.inOrder() {
		switch k := &r.queue.cohort; {
		case !r.sharing.inLine:
		case k.node == nil && k.called == 0:
			k.called = c.takeNext(k).id
		default:
			c.leaveLine(r)
		}
	}
}

// linesOfCohorts gives the requests that wait in cohorts, in the order in which they came: those whose own nodes wait, and
// those without.
func (c *Coordinator) linesOfCohorts() (all []*request) {
	for _, r := range c.inOrder() {
		if r.life == active && r.spec.sharesNode() && !r.spec.Reads() &&
			(r.sharing.inLine || r.queue.cohort.called == r.id || c.hasPosition(r)) {
			all = append(all, r)
		}
	}
	return all
}

// restoreLines keeps the lines of an epoch that is over: the first is to lead.
func (c *Coordinator) restoreLines(all []*request) {
	for _, r := range all {
		switch k := &r.queue.cohort; {
		case k.called == 0:
			k.called, k.style = r.id, r.spec.Style
		case k.style == r.spec.Style && r.turn.phase == noTurn: // others have room of their own
			r.lineUpInCohort()
		}
	}
}

// takeFirst takes the first of the readers that are to hold with a node.
func (c *Coordinator) takeFirst(n *node) *request {
	r := c.requests[n.line[0]]
	if n.line = n.line[1:]; len(n.line) == 0 {
		n.line = nil
	}
	r.sharing.with = nil
	return r
}

// dissolveLine has the readers that were to hold with a node ask anew.
func (c *Coordinator) dissolveLine(n *node) {
	for len(n.line) > 0 {
		r := c.takeFirst(n)
		c.tell(r, machine.Event{Kind: machine.PredecessorGone, Op: r.lineOp()})
	}
}

// endCohortOf ends the cohort that a node serves: it serves no further request. The request that
// holds with it keeps it.
func (c *Coordinator) endCohortOf(q *ownQueue, n *node) {
	c.dissolveLine(n)
	k := &q.cohort
	if k.node != n {
		return
	}
	if k.watched {
		q.path.unwatch(n.name, watcher{role: serves, node: n.name})
	}
	c.stop(k.timer)
	k.node, k.timer, k.watched = nil, 0, false
	c.callNext(q)
}

// boundCohort notes that the lock is granted with a node, which is to serve others for a while only.
func (c *Coordinator) boundCohort(r *request) {
	if k := &r.queue.cohort; k.node == r.node && k.timer == 0 {
		k.grants++
		k.timer = c.after(c.epoch.timeout/cohortsPerTimeout,
			timer{kind: CohortTimer, path: r.queue.path.path, queue: r.queue.name})
	}
}

// cohortOver ends a cohort whose node has served for long enough.
func (c *Coordinator) cohortOver(t timer) {
	q := c.epoch.paths[t.path].queueNamed(t.queue, "")
	if q == nil {
		return
	}
	q.cohort.timer = 0
	if q.cohort.node != nil {
		c.endCohortOf(q, q.cohort.node)
	}
}

// How a node is passed on in its cohort. While the node exists nobody behind it is granted the lock, and each grant has
// the next place of its token: greater than the one before, and less than the token of any node made later. The places
// behind its own are its own where no other node of the lock path was made in its transaction.
//
// That the node exists is known as for every holder: by its create, by a watch, which is asked for
// with the first grant that is passed on, and by heartbeats. An operator who deletes it takes the
// lock from its holder, which hears of that with the event, like every holder. A hold that is taken
// from its owner is not passed on.

// passOn gives the node of a holder that gives back to the next request in its cohort.
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
		Event: machine.Event{Kind: machine.Seated, Op: next.lineOp(), Node: n.name, Token: token}})
	if k.grants++; k.grants >= next.spec.Want.Cohort || token.Place() >= messages.MaxPlace {
		c.endCohortOf(q, n)
	}
}

// passOnWaiting gives the node of a request that gives up before it has held to the next in its line, which waits in its
// stead.
func (c *Coordinator) passOnWaiting(r *request) {
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
		Event: machine.Event{Kind: machine.Created, Op: next.lineOp(), Node: n.name, Token: n.token}})
}

// leaveTo gives the node of one request to another.
func (c *Coordinator) leaveTo(r, next *request) {
	n := r.node
	c.setHeld(r, false)
	c.unwatchOwn(r)
	r.search, r.early = search{}, nil // a search under way may find the node when another request has it
	r.node = &node{phase: leftToOthers}
	n.users = []RequestID{next.id}
	next.node = n
	c.checkDescription(n)
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
	c.ask(&Watch{Path: q.path.at(n.name)}, serving{path: q.path.path, node: n.name})
}

// serving is the purpose of the Watch of a node that serves a cohort.
type serving struct {
	neverStale
	path, node string
}

// Readers of a cohort do not exclude each other, so they hold with one node together. Readers in
// its line hold as soon as the request that made the node is granted the lock, later ones at once.
// The node is shared as by the requests of one owner, and goes with the last of them. All have the
// token of the node, which is greater than the tokens of all writers before it, and less than those
// of all writers behind.
//
// A node serves as many readers as were asked for; the next reader makes another. Only a listing
// would show a writer of another session behind the node, so the time for which the node serves is
// bounded as in any cohort: then readers queue behind the writer. A writer of this session is
// known: readers that come after it do not join the readers before it. When a node goes before it
// was granted the lock, the readers in its line ask anew.

// heldByReaders reports whether the node of a cohort of readers has the lock.
func (k *cohort) heldByReaders() bool {
	return k.style.Mode == messages.Read && k.node != nil && k.grants > 0
}

// letsIn reports whether one more reader may hold with a node that has the lock. Its existence is
// known as that of a node that is passed on.
func (c *Coordinator) letsIn(n *node) bool {
	return n.phase == present && !n.wanted && c.epoch.connected && c.at.Lease.Valid
}

// endClosedReaders ends a cohort of readers that lets nobody in any more, for a reader that makes its own node.
func (c *Coordinator) endClosedReaders(r *request) {
	k := &r.queue.cohort
	if r.spec.Reads() && k.heldByReaders() && k.node != r.node && k.style == r.spec.Style {
		c.endCohortOf(r.queue, k.node)
	}
}

// letReadersIn grants the lock, which was granted to a reader, to those in the line of its node.
func (c *Coordinator) letReadersIn(r *request) {
	n := r.node
	for len(n.line) > 0 && c.letsIn(n) {
		next := c.takeFirst(n)
		c.letIn(next, n, next.lineOp())
	}
	c.dissolveLine(n)
}

// letIn grants the lock to one more reader, with a node that has it.
func (c *Coordinator) letIn(r *request, n *node, op uint64) {
	q := r.queue
	r.node, r.search = n, search{}
	n.users = append(n.users, r.id)
	c.granted(r)
	c.emit(&Tell{To: r.id, As: n.by, Event: machine.Event{Kind: machine.Seated, Op: op, Node: n.name, Token: n.token}})
	k := &q.cohort
	if k.node != n {
		return
	}
	c.watchServing(q)
	if k.grants++; k.grants >= r.spec.Want.Cohort {
		c.endCohortOf(q, n)
	}
}

// keepReadersBehind notes that a request is about to queue: readers that come after one that excludes them are to be
// behind it.
func (c *Coordinator) keepReadersBehind(r *request) {
	switch k := &r.queue.cohort; {
	case r.spec.Reads() || k.node == nil || k.style.Mode != messages.Read:
	case k.heldByReaders():
		c.endCohortOf(r.queue, k.node)
	default: // those in line have come before it
		k.node = nil
	}
}
