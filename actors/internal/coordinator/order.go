package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

func (c *Coordinator) order(o *Order) {
	if o.Epoch != 0 && o.Epoch != c.epoch.number {
		c.stale++
		return
	}
	r := c.requests[o.Request]
	if r == nil { // it begins
		r = &request{id: o.Request, spec: o.Spec, kind: kindOf(o.Spec), weight: c.bounds.Root + o.Spec.Size}
		if o.Spec.One != "" { // the chroot is part of the path of its guard, too
			r.weight += c.bounds.Root
		}
		c.requests[o.Request] = r
		c.reset(r)
	}
	if r.life == ended { // its end overtook this order
		return
	}
	r.gaveBack = o.Moment
	if o.Ending { // its owner may ask anew, also while the order waits: the new request queues behind the old node
		r.life = ending
		c.recount(r)
	}
	switch {
	case o.Do == machine.Withdraw:
		c.withdraw(r, o.Op)
	case o.Do == machine.CleanUp:
		c.cleanUp(r)
	case o.Do == machine.WatchQueue || o.Do == machine.CheckOwn:
		c.attend(r, o.Do)
	case !c.epoch.connected:
		c.park(r, o.Effect)
	default:
		c.execute(r, o.Effect)
	}
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
		return fifo{}
	}
}

// execute carries out an effect of a machine. An order of a kind that the servers hang up on waits
// for a pause first.
func (c *Coordinator) execute(r *request, e machine.Effect) {
	if r.pace != nil {
		r.pace.voided() // by a later order
		if r.pace.isLate() && r.pace.do == e.Do && !r.pace.rested {
			c.pauseBefore(r, e)
			return
		}
	}
	switch e.Do {
	case machine.Create:
		c.create(r, e.Op)
	case machine.List:
		r.kind.list(c, r, e.Op)
	case machine.Watch:
		c.endWait(r)
		r.wait = &wait{op: e.Op}
		r.kind.watch(c, r, e.Node)
	case machine.WatchOwn:
		if !r.node.exists() { // it was deleted since it was made: the request has been told, and holds no more
			c.tell(r, machine.Event{Kind: machine.NodeGone, Op: e.Op})
			return
		}
		r.held = true
		c.recount(r)
		c.watchOwn(r, e.Op)
	case machine.Verify:
		c.endAsks(r) // its owner was told Suspended, and asks anew
		c.verify(r, e.Op)
	case machine.Delete, machine.GiveBack:
		c.giveUp(r, e)
	default:
		c.emit(&Note{What: NoRequest, Path: r.spec.Path, Node: r.node.name, Detail: e.String()})
	}
}

// pauseOver goes on with the order that has waited for the end of the pause, if there is one. One
// that waited when the connection was lost is void: its machine verifies, and asks again.
func (c *Coordinator) pauseOver(t timer) {
	r := c.requests[t.request]
	if r == nil || r.pace == nil {
		return
	}
	r.pace.timer, r.pace.rested = 0, true
	if e := r.pace.waiting; e.Op != 0 && c.epoch.connected {
		c.execute(r, e)
	}
}

// giveUp removes the node of a request that gives the lock up, or back. The lock that is given back is
// handed over to the request right behind. A node that is gone already counts as removed
// (CURATOR-678).
func (c *Coordinator) giveUp(r *request, e machine.Effect) {
	r.removal.shortHold = r.own.phase == owed
	if r.own.phase == owed {
		r.own.phase = unwatched
	}
	c.leave(r)
	if e.Do == machine.GiveBack {
		c.handOver(r)
	}
	r.removal.op = e.Op
	c.remove(r)
}

func (c *Coordinator) abandon(id RequestID) {
	r := c.requests[id]
	if r == nil || r.life == ended {
		return
	}
	r.life = ended
	c.recount(r)
	if len(c.epoch.parked) > 0 {
		c.unpark(r)
	}
	if r.pace != nil {
		c.stop(r.pace.timer)
		r.pace = nil
	}
	c.endWait(r)
	c.cleanUp(r)
}

// countOutcome counts whether a query was carried out, for the orders that it serves: see pause.go.
func (c *Coordinator) countOutcome(what purpose, answer Answer) {
	f := answer.failure()
	if beat, is := what.(heartbeat); is {
		c.countBeat(beat, f)
		return
	}
	if f.Outcome == Unknown && f.Trouble != "" {
		c.epoch.beats.others = true
	}
	switch p := what.(type) {
	case creation:
		c.count(p.request, machine.Create, f)
	case seekingReclaimable:
		if f.Outcome != Applied && f.Outcome != Refused { // else the create follows, and shows it
			c.count(p.request, machine.Create, f)
		}
	case takingOver:
		c.count(p.request, machine.Create, f)
	case transaction:
		for _, ch := range p.changes {
			do := machine.Delete
			if ch.node == "" {
				do = machine.Create
			}
			c.count(ch.request, do, f)
		}
	case contestRemoval:
		c.count(p.request, machine.Delete, f)
	case listed:
		c.count(p.by, machine.List, f)
	case watchSet:
		c.count(p.request, machine.Watch, f)
	case contentionRead:
		c.count(p.request, machine.WatchQueue, f)
	case ownReading:
		c.count(p.request, machine.WatchOwn, f)
	case checking:
		c.count(p.request, machine.Verify, f)
	case counting:
		p.counted(c, f)
	}
}

// counted counts the hang-ups of the servers on looks at a lock path, and tells those who wait.
func (p looked) counted(c *Coordinator, f Failure) {
	path := c.epoch.paths[p.path]
	if path == nil {
		return
	}
	was, text := path.look.hangUps, ""
	switch {
	case f.Outcome == Unknown && f.Trouble != "":
		path.look.hangUps++
		text = fmt.Sprintf("%s, %d times", f.Trouble, path.look.hangUps)
	case f.Outcome != Applied && f.Outcome != Refused:
		return
	default:
		path.look.hangUps = 0
	}
	for _, id := range p.by {
		if r := c.requests[id]; r != nil && r.life != ended && max(was, path.look.hangUps) >= suspected {
			c.emit(&Trouble{To: id, Path: p.path, Text: text})
		}
	}
}

// countExpiry counts the creates that are under way when the session ends, as if each had been hung
// up on. Servers that keep sessions local have their leader judge a transaction, which says that
// the session is over. Without pauses there would be three hundred new sessions a second.
func (c *Coordinator) countExpiry() {
	for _, r := range c.inOrder() {
		if r.node.phase == creating && r.life == active && !r.pace.keepsOrder() {
			text := "the session ends each time that the servers are asked for a node in " + r.spec.Path
			c.count(r.id, machine.Create, Failure{Outcome: Unknown, Trouble: text})
		}
	}
}

// count counts one outcome of an order. A deferred order pauses from the first time on, one that
// was hung up on from the second time in a row.
func (c *Coordinator) count(id RequestID, do machine.Do, f Failure) {
	r := c.requests[id]
	switch {
	case r == nil || r.life == ended:
	case f.Outcome == Deferred, f.Outcome == Unknown && f.Trouble != "":
		c.failedAgain(r, do, f)
	case r.pace == nil || r.pace.do != do || r.pace.keepsOrder(): // the answer is late, and the order after it waits
	case f.Outcome == Applied || f.Outcome == Refused:
		if r.pace.isLate() {
			c.emit(&Trouble{To: r.id, Path: r.spec.Path})
		}
		c.stop(r.pace.timer)
		r.pace = nil
	}
}

func (c *Coordinator) failedAgain(r *request, do machine.Do, f Failure) {
	if r.pace == nil {
		r.pace = &pace{}
	}
	p := r.pace
	switch {
	case p.do == do:
	case p.timer != 0: // the answer is late, and the request has gone on
		return
	default:
		*p = pace{do: do}
	}
	p.failures, p.deferred, p.rested = p.failures+1, f.Outcome == Deferred, false
	if !p.isLate() {
		return
	}
	what := &Trouble{To: r.id, Path: r.spec.Path, Text: f.Trouble}
	if p.failures > 1 {
		what.Text = fmt.Sprintf("%s, %d times", f.Trouble, p.failures)
	}
	c.emit(what)
}
