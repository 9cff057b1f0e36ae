package coordinator

import (
	"maps"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// The ledger: what has become of writes whose replies were lost. One look at a lock path, behind a committed transaction,
// answers all who ask: each node of this epoch is known by its name (Spec.guid).
//
//   - A request has its node again where the look shows its newest attempt. Where it does not, the request has none, and
//     its next attempt has another name.
//   - Any other node of the epoch is a stray, and is removed: a create was carried out late, or restored servers have
//     brought back what was deleted.
//
// A create whose reply was lost may be carried out after a look has not shown its node: the server that has it goes on
// when the session has moved to another and moves back (TestRequestsOutliveAMove of tests/touches). So each such path is
// looked at on each new connection. While a connection commits transactions the session has not moved, and no late create
// comes. A sync does not tell that: so a transaction is committed every half of a session timeout, which is a look at one
// of these paths. It need not be one at each.

const (
	lateLooksPerTimeout = 2
	// lateLooks is the count of these looks after which a create is forgotten. A server can keep it only while it follows
	// the leader and is not heard, for syncLimit ticks (5 in the servers' sample file). A session timeout is two ticks at
	// least.
	lateLooks = 20
)

func (c *Coordinator) lookFor(r *request) {
	c.join(r)
	p := r.queue.path
	if l := &p.look; r.held && l.hangUps >= suspected { // the pause of others may be too long
		c.stop(l.timer)
		l.timer = c.after(c.whileHeld(p.pauseAfterHangUps()), timer{kind: LookTimer, path: p.path})
	}
	c.look(p)
}

func (c *Coordinator) join(r *request) {
	if l := &r.queue.path.look; !slices.Contains(l.covered, r.id) && !slices.Contains(l.joined, r.id) {
		l.joined = append(l.joined, r.id)
	}
}

// forget drops a request that goes on from those that it is to answer: it is too early for the next attempt.
func (l *look) forget(r *request) {
	is := func(id RequestID) bool { return id == r.id }
	l.covered, l.joined = slices.DeleteFunc(l.covered, is), slices.DeleteFunc(l.joined, is)
}

// look looks at a lock path, unless a look is under way, which the next follows. Where the servers have hung up it waits:
// each hang-up costs all requests of the session their connection.
func (c *Coordinator) look(p *lockPath) {
	switch l := &p.look; {
	case !c.epoch.connected || l.ask != 0:
	case l.hangUps >= suspected:
		c.lookLater(p, p.pauseAfterHangUps())
	default:
		c.lookNow(p)
	}
}

func (p *lockPath) pauseAfterHangUps() time.Duration {
	var hash uint64
	for _, b := range []byte(p.path) {
		hash = 31*hash + uint64(b)
	}
	return pauseAfter(p.look.hangUps, hash)
}

func (c *Coordinator) lookLater(p *lockPath, pause time.Duration) {
	if p.look.timer == 0 {
		p.look.timer = c.after(pause, timer{kind: LookTimer, path: p.path})
	}
}

// lookAgain ends the pause before a look, if anybody waits for it still.
func (c *Coordinator) lookAgain(p *lockPath) {
	if p == nil {
		return
	}
	l := &p.look
	l.timer = 0
	l.joined = slices.DeleteFunc(l.joined, func(id RequestID) bool { return c.requests[id] == nil || !c.requests[id].isLookedFor() })
	if c.epoch.connected && l.ask == 0 && (len(l.joined) > 0 || l.due) {
		c.lookNow(p)
	}
}

func (c *Coordinator) lookNow(p *lockPath) {
	l, what := &p.look, &Look{Path: p.path, Mark: c.epoch.mark}
	c.stop(l.timer)
	l.timer, l.covered, l.joined = 0, l.joined, nil
	for _, id := range l.covered {
		r := c.requests[id]
		if r == nil || !r.isSought() {
			continue
		}
		if what.Seek = append(what.Seek, id); r.spec.One != "" {
			what.Guards = append(what.Guards, r.spec.Guard(r.spec.guid(c.epoch.mark, r.node)))
		}
	}
	l.ask = c.ask(what, looked{p.path, slices.Clone(l.covered)})
}

// attemptOf gives the request whose newest attempt has made a child; nil for none. ours: an attempt of this epoch has.
func (c *Coordinator) attemptOf(child string) (r *request, ours bool) {
	id, attempt, ours := c.epoch.mark.attempt(child)
	if r = c.requests[id]; !ours || r == nil || r.node.attempt != attempt || r.node.phase == absent {
		return nil, ours
	}
	return r, true
}

// isLookedFor reports whether the machine of a request waits for what a look tells of its node, or the removal of the node.
func (r *request) isLookedFor() bool {
	return r.search != 0 && r.life != ended || r.seeksToRemove()
}

// isSought reports whether a look is to read the node of a request: the name does not tell all.
func (r *request) isSought() bool { return r.node.phase == unknown || r.spec.One != "" }

func (r *request) seeksToRemove() bool { return r.removal.phase == removing && r.node.phase == unknown }

// removeStray removes a node of this epoch that no request has.
func (c *Coordinator) removeStray(p *lockPath, name string, czxid int64) {
	if r, ours := c.attemptOf(name); !ours || r != nil || slices.Contains(p.strays, name) {
		return
	}
	if c.epoch.strayHangUps >= suspected {
		c.stays(p)
		return
	}
	p.strays = append(p.strays, name)
	purpose, what := strayRemoval{p.path, name, name}, Query(&Commit{Deletes: []string{p.at(name)}})
	if one, guards := queue.GuardedBy(name); guards {
		purpose.node, what = one, &RemoveContest{Path: p.at(one), Guard: p.at(name), Czxid: czxid}
	}
	c.ask(what, purpose)
}

// stays notes that a stray is there still: it waits for the timer, or the next connection.
func (c *Coordinator) stays(p *lockPath) {
	c.mayComeLate(p)
	p.look.due = true
}

// mayComeLate notes that a stray may come to a lock path, or be there still.
func (c *Coordinator) mayComeLate(p *lockPath) {
	p.look.late = lateLooks
	c.timeLateLooks()
}

func (c *Coordinator) timeLateLooks() {
	if e := &c.epoch; e.lateTimer == 0 {
		e.lateTimer = c.after(e.timeout/lateLooksPerTimeout, timer{kind: CreateTimer})
	}
}

// lookLate looks at the paths that were not seen on this connection. Where there are none it looks at one: that commits a
// transaction, which fails if the session has moved.
func (c *Coordinator) lookLate() {
	c.epoch.lateTimer, c.epoch.strayHangUps = 0, 0
	looks := c.LooksAreDue()
	for _, name := range slices.Sorted(maps.Keys(c.epoch.paths)) {
		p := c.epoch.paths[name]
		if p == nil || p.look.late == 0 {
			continue
		}
		if !p.look.due {
			p.look.late--
		}
		if p.look.due || !looks {
			looks = true
			c.look(p)
		}
		if p.look.late > 0 {
			c.timeLateLooks()
		}
		c.epoch.leavePath(p)
	}
}

// LooksAreDue reports whether a lock path where creates may come late was not seen on this connection.
func (c *Coordinator) LooksAreDue() bool {
	for _, p := range c.epoch.paths {
		if p.look.due {
			return true
		}
	}
	return false
}

// lookAnew looks on a new connection where creates may have come late, or nodes are to be removed.
func (c *Coordinator) lookAnew() {
	for _, name := range slices.Sorted(maps.Keys(c.epoch.paths)) {
		p := c.epoch.paths[name]
		if p.look.due = p.look.late > 0; p.look.due || len(p.look.joined) > 0 {
			c.look(p)
		}
	}
}

// stopLooking takes note that the connection is lost: the answer to what was asked on it says nothing. Machines ask anew.
func (c *Coordinator) stopLooking(p *lockPath) {
	l := &p.look
	l.joined = slices.DeleteFunc(append(l.covered, l.joined...), func(id RequestID) bool {
		r := c.requests[id]
		return r == nil || !r.seeksToRemove()
	})
	l.ask, l.covered = 0, nil
}

type looked struct {
	path string
	by   []RequestID
}

// strayRemoval is the purpose of the delete of a stray: in a contest, of the node, whose guard has the name.
type strayRemoval struct{ path, name, node string }
