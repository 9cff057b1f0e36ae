package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// fifo is a queue in which each waits for one node: exclusive locks, readers and writers.
type fifo struct{}

func (fifo) create(c *Coordinator, r *request, op uint64) { c.submit(change{operation{r.id, op}, ""}) }

func (fifo) list(c *Coordinator, r *request, op uint64) { c.list(r, op) }

func (fifo) noteListing(r *request, position queue.Position, _ int) string {
	r.view.before, r.view.head = position.Before, ""
	if position.Head {
		r.view.head = position.Predecessor
	}
	r.ahead.note(r, position)
	return ""
}

func (fifo) watch(c *Coordinator, r *request, predecessor string) {
	c.watchPredecessor(r, predecessor)
	c.lookAhead(r, predecessor)
}

func (fifo) lookedAhead(c *Coordinator, r *request, op uint64, found *View) {
	c.lookedAhead(r, op, found)
}

func (fifo) remove(c *Coordinator, r *request, op uint64) {
	c.submit(change{operation{r.id, op}, r.node.name})
}

// watchesAll is a queue whose waiters list it whenever anything changes in it.
type watchesAll struct{ fifo }

func (watchesAll) watch(c *Coordinator, r *request, _ string) { c.watchChildren(r) }

// Guards. The node of a contest has a fixed name, and a delete that this session sent over an older connection may be
// carried out late (TestRealContestDeletedLate): it would take the node of another session's holder. So beside the node
// stands its guard, an ephemeral sibling.
//
//   - One transaction makes the node and its guard. One transaction deletes the guard and the node.
//   - The name of a guard has the GUID of the attempt (Spec.guid). So no two creates share one, and a node is the
//     request's if the guard of its attempt exists and both have one czxid.
//   - A removal is refused unless the guard that it names exists. However late it is carried out, it deletes the node that
//     was made with that guard, or nothing.
//   - A late create is refused where there is a node. Where there is none it makes both, and is found by the guard.
//
// That fails only where somebody deletes the node or the guard by itself. Then the removal deletes the guard alone
// (RemoveContest), or goes by the czxid of the node, and by its version.

// contest is a lock without a queue: one ephemeral node, and the request that creates it holds. Its name does not tell
// its owner: its data do, which others may replace, and its session.
type contest struct{ fifo }

func (contest) create(c *Coordinator, r *request, op uint64) {
	c.createSingly(creation{operation: operation{r.id, op}})
}

// list: the request that has the node holds.
func (contest) list(c *Coordinator, r *request, op uint64) {
	has := r.node.exists()
	c.tell(r, machine.Event{Kind: machine.Listed, Op: op, First: has, Missing: !has})
}

// remove deletes the node if it is still the one that this request has made: see Guards.
func (contest) remove(c *Coordinator, r *request, op uint64) {
	guard := r.spec.At(r.spec.Guard(r.spec.guid(c.epoch.mark, r.node)))
	c.ask(&RemoveContest{Path: r.spec.At(r.spec.One), Guard: guard, Czxid: r.node.token.Zxid()}, contestRemoval{operation{r.id, op}})
}

// semaphore lets several in. A contender holds when its weight and the weights of all before it fit into the permits, whose
// number is in the data of the lock path. The first that does not fit watches all before it, because any of them may leave
// first, and the number of permits. The others watch the one before them, which writes to its node when it holds.
type semaphore struct{ fifo }

func (semaphore) noteListing(r *request, position queue.Position, permits int) string {
	if wrong := r.disagrees(permits); wrong != "" {
		return wrong
	}
	v := &r.view
	v.permits, v.front, v.earlier = permits, position.Front, position.Earlier
	if len(position.Front) != position.Before && v.written != position.Predecessor {
		v.front, v.earlier = slices.Clone(position.Front), nil // it watches one node: the names of all are not kept for it
	}
	v.before = position.Before
	return ""
}

func (semaphore) watch(c *Coordinator, r *request, predecessor string) {
	v := r.view
	if len(v.front) != v.before && v.written != predecessor {
		// It may have written that it holds before the watch was set: once its node was written to,
		// the queue is listed again.
		c.watchNode(r, predecessor, expect{unwritten: true})
		return
	}
	// The first waiter; or one behind a contender that has written to its node and does not fit.
	// That contender may hold nevertheless, since before the permits became fewer, and does not say
	// so again.
	for _, name := range v.earlier {
		c.watchNode(r, name, expect{})
	}
	c.watchNode(r, "", expect{permits: v.permits})
}
