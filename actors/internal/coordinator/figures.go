package coordinator

import (
	"maps"
	"slices"
	"strings"
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
	// Inside counts the requests that stand in lines, without a node.
	Inside int
	// Busy: a node of a request may be at the servers, or come to be there.
	Busy bool
}

// Counts gives the counts after the newest input.
func (c *Coordinator) Counts() Counts {
	l := &c.epoch.load
	return Counts{Stale: c.stale, Polls: c.polls, Weight: l.nodes + l.others, Inside: l.inLine, Busy: len(c.requests) > 0}
}

// Requests counts the requests that have not ended, and ended ones of which a node may be left.
func (c *Coordinator) Requests() int { return len(c.requests) }

// Knows reports whether anything is left of a request.
func (c *Coordinator) Knows(id RequestID) bool { return c.requests[id] != nil }

// Looking gives the requests that have a queue listed to know whether they may wait in it, in the order in which they
// asked.
func (c *Coordinator) Looking() (all []RequestID) {
	for _, id := range slices.Sorted(maps.Keys(c.epoch.asked)) {
		if p, looks := c.epoch.asked[id].(countingAhead); looks && !p.stale(c, id) {
			all = append(all, p.request)
		}
	}
	return all
}

// LetIn reports whether a request with a bound on waiters was found to be within it.
func (c *Coordinator) LetIn(id RequestID) bool { r := c.requests[id]; return r != nil && r.admitted }

// WithoutNode gives the requests for a root, and for paths below it, that wait without a node, with none on the way:
// at most so many, in the order in which they first asked for one. It counts all of them. "/" is above all paths.
func (c *Coordinator) WithoutNode(root string, most int) (first []*Spec, all int) {
	below := strings.TrimSuffix(root, "/") + "/"
	var ids []RequestID // the least, in order: a session may have many more
	for id, r := range c.requests {
		path := r.spec.Want.Path
		if r.life != active || r.node.phase != absent || path != root && !strings.HasPrefix(path, below) {
			continue
		}
		all++
		if at, _ := slices.BinarySearch(ids, id); at < most {
			ids = slices.Insert(ids[:min(len(ids), most-1)], at, id)
		}
	}
	for _, id := range ids {
		first = append(first, c.requests[id].spec)
	}
	return first, all
}

// Room reports whether there is room for nodes of which only the shell knows, and whether there will be soon, because
// others are given up.
func (c *Coordinator) Room(weight int) (now, soon bool) {
	lacks := c.lacks(weight)
	return lacks <= 0, lacks <= c.epoch.load.going
}

// Unused reports whether no request holds or waits any more with a node of this session.
func (c *Coordinator) Unused(path, name string) bool {
	_, n := c.epoch.paths[path].findNode(name)
	return n == nil || n.phase != present || c.requests[n.users[0]].life == ended
}

// Retains reports whether a node is retained.
func (c *Coordinator) Retains(path, name string) bool {
	_, n := c.epoch.paths[path].findNode(name)
	return n != nil && n.phase == retained
}

// Cohort is a node behind which requests of this session wait without nodes: in its cohort, or in the line of its
// queue.
type Cohort struct {
	Node string
	// Has describes the request that holds or waits with the node, Waiting the requests that wait
	// behind it, in their order. Readers and requests for permits are left out where they stand in
	// a line: they do not wait for this one node.
	Has     *Spec
	Waiting []*Spec
}

// Cohorts yields the nodes that are shared by a cohort, and the nodes with a line behind them.
func (c *Coordinator) Cohorts(yield func(Cohort) bool) {
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				r := c.requests[n.users[0]]
				inFront := q.line.length > 0 && n == q.nodes[len(q.nodes)-1]
				if n.phase != present || r == nil || !r.spec.sharesNode() && !inFront {
					continue
				}
				all := Cohort{Node: n.name, Has: r.spec}
				for _, id := range q.waitersOf(n) {
					all.Waiting = append(all.Waiting, c.requests[id].spec)
				}
				if inFront {
					all.Waiting = append(all.Waiting, c.excludedInLine(q)...)
				}
				if !yield(all) {
					return
				}
			}
		}
	}
}

// waitersOf gives the requests that wait behind a node in its cohort, in their order: all read, or none.
func (q *ownQueue) waitersOf(n *node) []RequestID {
	if q.cohort.node == n && len(n.line) == 0 {
		return q.cohort.line
	}
	return n.line
}

// excludedInLine gives the requests of a line that wait until everybody before them is gone.
func (c *Coordinator) excludedInLine(q *ownQueue) (all []*Spec) {
	for id := q.line.first; id != 0; id = c.requests[id].turn.next {
		if sp := c.requests[id].spec; !sp.Reads() && sp.Permits == 0 {
			all = append(all, sp)
		}
	}
	return all
}

// Waiting counts the requests of this session that wait behind a node of it without nodes: in its cohort, and in the
// line of its queue.
func (c *Coordinator) Waiting(path, name string) (waiting int) {
	q, n := c.epoch.paths[path].findNode(name)
	if n == nil {
		return 0
	}
	if len(n.users) > 0 && c.requests[n.users[0]] != nil && c.requests[n.users[0]].spec.sharesNode() {
		waiting = len(q.waitersOf(n))
	}
	if n == q.nodes[len(q.nodes)-1] {
		waiting += q.line.length
	}
	return waiting
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
	return what == nil || what.stale(c, id)
}
