package coordinator

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// have notes that the node of a request was made, or found. It gives the number of places behind the
// token's that are the request's alone: not those of its batch mates.
func (c *Coordinator) have(r *request, name string, number int32, token messages.Token) (places int) {
	n, q := r.node, r.queue
	if !n.batchMates && !n.lost && r.inherited == 0 && r.spec.Want.Reclaim == "" {
		places = messages.MaxPlace - n.place
	}
	if n.exists() && n.name == name {
		n.token = token
		return places
	}
	if n.exists() {
		q.remove(n)
	}
	if q.one != "" && len(q.nodes) > 0 { // the node that was there is gone, or the new one could not exist
		other := c.requests[q.nodes[0].of]
		c.tell(other, machine.Event{Kind: machine.NodeGone})
		c.forgetContest(other)
	}
	r.admitted = true // it may have been found after all
	c.recount(r)
	n.phase, n.name, n.number, n.token = present, name, number, token
	at, _ := q.indexOf(n)
	q.nodes = slices.Insert(q.nodes, at, n)
	return places
}

func (c *Coordinator) forgetNode(r *request) {
	n, q := r.node, r.queue
	c.endWait(r)
	c.unwatchOwn(r)
	if r.asks != (holderAsks{}) {
		c.endAsks(r)
	}
	r.admitted, r.held = r.admitted && !r.held, false // one that held waits no more
	c.recount(r)
	r.early, r.node = nil, &node{of: r.id, attempt: n.attempt + 1}
	existed := n.exists()
	if existed {
		q.remove(n)
	}
	n.phase = absent
	if existed {
		c.departed(q)
		c.vanished(q.path, n.name)
	}
}

// forgetContest is forgetNode for a contest: somebody has deleted the node by itself, or the guard. The other of them goes, too.
func (c *Coordinator) forgetContest(r *request) {
	guard, czxid := r.spec.Guard(r.spec.guid(c.epoch.mark, r.node)), r.node.token.Zxid()
	c.forgetNode(r)
	c.removeStray(r.queue.path, guard, czxid)
}

func (c *Coordinator) vanished(p *lockPath, name string) {
	if name == "" {
		return
	}
	for _, w := range p.watchers[name] { // a list of them is replaced, and not changed, while they are told
		if w.role == awaitsNode {
			c.waitChanged(c.requests[w.request], name, NodeDeleted, true)
		}
	}
}

// A holder's node is read between one and two readDelay after the grant. A shorter hold saves that
// read, one of three requests of an uncontended cycle. A revoke request that was written before is
// found by the read.
const readDelay = 5 * time.Millisecond

// watchOwn reads a holder's own node and watches it, before long.
func (c *Coordinator) watchOwn(r *request, op uint64) {
	c.unwatchOwn(r)
	if r.spec.Permits > 0 || r.spec.One != "" || r.spec.Want.TellMore { // others wait to hear of it, or it may be another's node
		c.readOwn(r, op)
		return
	}
	r.own.phase, r.own.op = owed, op
	due := &c.epoch.reads
	if len(due.older)+len(due.newer) == 0 {
		c.after(readDelay, timer{kind: ReadTimer})
	}
	due.newer = append(due.newer, operation{r.id, op})
}

// readsDue reads the older of the nodes that are owed a read.
func (c *Coordinator) readsDue() {
	due := c.epoch.reads.older
	c.epoch.reads = reads{older: c.epoch.reads.newer}
	if len(c.epoch.reads.older) > 0 {
		c.after(readDelay, timer{kind: ReadTimer})
	}
	for _, d := range due {
		if r := c.requests[d.request]; r != nil && r.own.phase == owed && r.own.op == d.op &&
			c.epoch.connected && r.life != ended {
			c.readOwn(r, d.op)
		}
	}
}

func (c *Coordinator) readOwn(r *request, op uint64) {
	announces := r.spec.Permits > 0 && !r.own.announced
	r.own = ownWatch{watched, r.spec.Permits > 0, op}
	r.queue.path.watch(r.node.name, watcher{request: r.id, role: holds})
	q := &ReadOwn{Path: r.queue.path.at(r.node.name), Announce: announces,
		Says: NewNode{Spec: r.spec, Place: r.node.place}}
	if r.spec.One != "" {
		q.Czxid, q.Says.GUID = r.node.token.Zxid(), r.spec.guid(c.epoch.mark, r.node)
	}
	c.ask(q, ownReading{operation{r.id, op}})
}

// ownReading is the purpose of a ReadOwn.
type ownReading struct{ operation }

func (p ownReading) stale(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.own.phase != watched || r.own.op != p.op
}

func (p ownReading) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Read)
	f := a.Failure
	if f.none() && r.spec.One != "" && a.Czxid != r.node.token.Zxid() {
		f = Failure{Outcome: Refused, Cause: NoNode} // another has made it since ours was deleted
	}
	switch {
	case f.none():
		c.tell(r, machine.Event{Kind: machine.OwnRead, Op: p.op, Unlock: queue.IsRevokeRequest(a.Data)})
	case f.is(NoNode):
		c.tell(r, machine.Event{Kind: machine.NodeGone, Op: p.op})
		c.vanished(r.queue.path, r.node.name)
	case f.Outcome == Deferred: // the hold is in no doubt for that
		c.unwatchOwn(r)
		if r.life == active && !r.pace.keepsOrder() { // else it has given the lock back meanwhile
			c.pauseBefore(r, machine.Effect{Do: machine.WatchOwn, Op: p.op})
		}
	default:
		r.own.announced = r.own.announced && f.Outcome == Refused // else nobody knows
		c.tell(r, failed(p.op, f))
	}
}

// ownChanged takes an event of a holder's own node.
func (c *Coordinator) ownChanged(r *request, name string, change Change) {
	if r == nil || r.own.phase != watched || r.node.name != name { // it has gone on
		return
	}
	r.own.phase = unwatched
	kind := machine.OwnChanged
	if change == NodeDeleted {
		kind = machine.NodeGone
	}
	c.tell(r, machine.Event{Kind: kind, Op: r.own.op})
}
