package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// kind is what differs between kinds of locks. Its values have no state.
type kind interface {
	// create has the node made that a request asks for.
	create(c *Coordinator, r *request, op uint64)
	// waitsFor tells whether a request waits for nobody but the node right before its own, which is of this session.
	waitsFor(r *request, left *node) bool
	// list finds out where a request stands.
	list(c *Coordinator, r *request, op uint64)
	// stands notes where a listing shows a request. It gives what is wrong with that, where it cannot wait there.
	stands(r *request, place queue.Place, permits int) (wrong string)
	// watch watches what keeps a request out: its predecessor is named.
	watch(c *Coordinator, r *request, predecessor string)
	// readsLate tells whether a holder's node need not be read at once.
	readsLate() bool
	// remove has the node deleted.
	remove(c *Coordinator, r *request, op uint64)
}

func kindOf(sp *Spec) kind {
	switch {
	case sp.One != "":
		return contest{}
	case sp.Permits > 0:
		return semaphore{}
	case sp.Want.WatchAll:
		return watchesAll{}
	default:
		return line{}
	}
}

// line is a queue in which each waits for one node: exclusive locks, readers and writers.
type line struct{}

func (line) create(c *Coordinator, r *request, op uint64) { c.submit(change{request: r.id, op: op}) }

func (line) waitsFor(r *request, left *node) bool {
	before, _ := queue.Parse(left.name)
	return queue.WaitsFor(r.spec.Style.Mode, before.Mode)
}

func (line) list(c *Coordinator, r *request, op uint64) { c.list(r, op) }

func (line) stands(r *request, place queue.Place, _ int) string {
	r.view.before, r.view.second, r.view.head = place.Before, place.LookAhead, ""
	if place.Head {
		r.view.head = place.Predecessor
	}
	return ""
}

func (line) watch(c *Coordinator, r *request, predecessor string) {
	c.watchNode(r, predecessor)
	c.lookAhead(r, predecessor)
}

func (line) readsLate() bool { return true }

func (line) remove(c *Coordinator, r *request, op uint64) {
	c.submit(change{request: r.id, op: op, node: r.node.name, brief: r.removal.brief})
}

// watchesAll is a line whose waiters look at the queue whenever anything changes in it.
type watchesAll struct{ line }

func (watchesAll) waitsFor(*request, *node) bool { return false }

func (watchesAll) watch(c *Coordinator, r *request, _ string) { c.watchChildren(r) }
