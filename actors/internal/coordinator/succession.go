package coordinator

// Succession: a lock path that this session locks over and over, alone, is not listed behind each create.
//
// A node's number is how many nodes were made in its lock path before it, whoever made them and under whatever name. So
// between two successive numbers nothing was made. If nobody was before the first of the two, nobody but it can be before
// the second: contenders only vanish from before a node. And where no node of this session is left of the new one, it is
// first.
//
// That holds while the lock path is the same node. One that was deleted and made again counts from zero, and others may
// have come up to the number before ours. So the session watches the lock path itself (ZooKeeper tells of its end on the
// connection before it answers anything later), and believes successive numbers only of creates that were sent while the
// watch stood.
//
// Where others lock, too, numbers do not follow one another, and a create without a listing would cost a round trip more.
// So it takes some successive nodes before the lock path is not listed.

// standing is the number of a watch that stands, and zero without one.
func (i identity) standing() uint64 {
	if i.set {
		return i.ask
	}
	return 0
}

// follows tells whether a node has the number after that of one that was first, in the same lock path.
func (q *ownQueue) follows(n *node) bool {
	s := q.succession
	return n.under != 0 && n.under == q.path.identity.standing() && n.under == s.under && n.number == s.number+1 &&
		q.neighbour(n) == nil
}

// isSteady tells whether the next create of a request is likely to follow the last.
func (c *Coordinator) isSteady(r *request) bool {
	s := r.queue.succession
	return r.spec.exclusive() && s.under != 0 && s.under == r.queue.path.identity.standing() && int(s.streak) >= c.bounds.Streak
}

// succeed notes what the create of a node has shown.
func (c *Coordinator) succeed(r *request, first bool) {
	q, n := r.queue, r.node
	if !r.spec.exclusive() {
		return
	}
	if !first {
		q.succession = succession{}
		return
	}
	streak := uint8(1)
	if s := q.succession; s.streak > 0 && n.number == s.number+1 {
		streak = min(s.streak+1, maxStreak)
	}
	q.succession = succession{n.number, streak, n.under}
	if p := q.path; int(streak)+1 >= c.bounds.Streak && p.identity == (identity{}) {
		p.identity.ask = c.ask(&Watch{Path: p.path}, identifying{p.path})
	}
}

// maxStreak bounds what is counted.
const maxStreak = 8

// identifying is what the Watch of a lock path is for.
type identifying struct{ path string }

func (p identifying) answered(c *Coordinator, _ uint64, answer Answer) {
	path, f := c.epoch.paths[p.path], answer.failure()
	path.identity.set, path.identity.refused = f.none(), f.is(NoAuth)
	if !f.none() {
		path.identity.ask = 0
	}
}

// lapsed: the watch is not wanted any more, or was spent before its answer came.
func (p identifying) lapsed(c *Coordinator, id uint64) bool {
	path := c.epoch.paths[p.path]
	return path == nil || path.identity.ask != id
}
