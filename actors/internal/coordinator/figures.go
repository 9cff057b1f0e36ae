package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Reading a coordinator: for the shell, and for package walk.

// Epoch is the number of the epoch.
func (c *Coordinator) Epoch() uint64 { return c.epoch.number }

// Counts has the counts of a session: of events, and of its nodes at the servers.
type Counts struct {
	// Stale counts the orders and answers that came for an epoch or an attempt that was over. It
	// only grows.
	Stale int64
	// Polls counts the changes that waiters found by looking again, after a session timeout, though
	// an event should have told of them: see showsUnheard. It only grows.
	Polls int64
	// Weight is the size of the session's ephemeral nodes in the transaction that ends it, in bytes.
	Weight int
	// Busy: a node of a request may be at the servers, or come to be there.
	Busy bool
	// Urgent: a lock is held, so reconnecting is urgent. For waiters it is not, for their nodes last as long as the session.
	Urgent bool
}

// Counts gives the counts after the newest input.
func (c *Coordinator) Counts() Counts {
	l := &c.epoch.load
	now := Counts{Stale: c.stale, Polls: c.polls, Weight: l.nodes + l.others, Busy: len(c.requests) > 0, Urgent: c.epoch.held > 0}
	for _, p := range c.epoch.parked { // also grants of which the session hears while it is disconnected
		now.Urgent = now.Urgent || p.effect.Do == machine.WatchOwn
	}
	return now
}

// Requests counts the requests that have not ended, and ended ones of which a node may be left.
func (c *Coordinator) Requests() int { return len(c.requests) }

// Knows reports whether anything is left of a request.
func (c *Coordinator) Knows(id RequestID) bool { return c.requests[id] != nil }

// WithoutNode gives the requests for a root, and for paths below it, that wait without a node, with none on the way:
// at most so many, in the order in which they first asked for one. It counts all of them. "/" is above all paths.
func (c *Coordinator) WithoutNode(root string, most int) (first []*Spec, all int) {
	var ids []RequestID
	for id, r := range c.requests {
		if r.life == active && r.node.phase == absent && queue.IsBelow(root, r.spec.Want.Path) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids[:min(len(ids), most)] {
		first = append(first, c.requests[id].spec)
	}
	return first, len(ids)
}

// Unused reports whether no request holds or waits any more with a node of this session.
func (c *Coordinator) Unused(path, name string) bool {
	_, n := c.epoch.paths[path].findNode(name)
	return n == nil || n.phase != present || c.requests[n.of].life == ended
}

// Nodes yields the names of the nodes of this session, as far as they are known.
func (c *Coordinator) Nodes(yield func(name string) bool) {
	for _, n := range c.epoch.nodes {
		if !yield(n.name) {
			return
		}
	}
}

// Timers yields the timers that are set, with their kinds.
func (c *Coordinator) Timers(yield func(timer uint64, kind TimerKind) bool) {
	for timer, what := range c.epoch.timers {
		if !yield(timer, what.kind) {
			return
		}
	}
}

// Ignores reports whether the answer to a query can change nothing any more.
func (c *Coordinator) Ignores(id uint64) bool { return c.isStale(c.epoch.asked[id], id) }

// isStale reports whether an answer has no purpose any more, or one that is gone.
func (c *Coordinator) isStale(what purpose, id uint64) bool {
	p, passes := what.(passing)
	return what == nil || passes && p.stale(c, id)
}
