package coordinator

// Succession: a lock path that this session locks over and over, alone, is not listed behind each
// create.
//
// The rule. Node s of this session was first, and node n of this session has the next number. Both
// were asked for while the same watch on the lock path stood, and it still stands when n is
// answered. Then only s can be before n.
//
// Why. A node's number is the lock path's count of creates (PrepRequestProcessor: the parent's
// cversion, which deletes leave as it is). Every create counts, of any session and under any name,
// a downgrade's and a reclaimer's too. So nothing was made between s and n. All nodes made before s
// were gone when s was first, because contenders only vanish from before a node. A node that is
// made later at an older number, in a downgrade or by a reclaimer, takes the place of a node that
// is there.
//
// That counts nodes of one lock path only. A path that was deleted and made again counts from zero,
// and others may have come up to the number before n. Hence the watch. A server tells of the
// deletion, on the connection, before it answers anything that was carried out later; the transport
// hands events and answers over in that order. Each condition keeps one history out:
//
//   - n.under is taken when n is sent, and only of a watch that is set: before, the path may be made again unseen.
//   - It must stand when n is answered: the path may be made again while the create is on its way.
//   - s.under must be the same: the path may be made again between s and the watch.
//   - A lost connection ends it: the servers forget watches, and the path may be made again meanwhile.
//   - s must have been first, and not merely ours: somebody else may be before it.
//   - s may be there still: then it is the neighbour, and n waits for it.
//
// The seeded mistakes of package walk leave out one each.
//
// Servers send no event to a session that may not READ the node, and setting an ACL is no event. So
// a lock path that loses READ, is deleted and is made again looks as if it had stayed. No request
// tells them apart at no cost. A watch is therefore believed in for a session timeout at most, and
// set anew: a read that is refused ends it. LIMITS names the remaining gap.
//
// Where others lock, too, numbers do not follow one another, and a create without a listing would
// cost a round trip more. So it takes some successive nodes (Bounds.Streak) before the lock path is
// not listed.

// isSteady reports whether the next create of a request is likely to follow the last.
func (c *Coordinator) isSteady(r *request) bool {
	s := r.queue.succession
	return r.spec.exclusive() && s.under != 0 && s.under == r.queue.path.identity.watch &&
		int(s.streak) >= c.bounds.Streak
}

// succeed adds the create of a node to the evidence, and reports whether nobody is before it. first: that is known.
func (c *Coordinator) succeed(r *request, first bool) bool {
	q, n := r.queue, r.node
	p, s := q.path, q.succession
	if !r.spec.exclusive() {
		return first
	}
	follows := n.under != 0 && n.under == p.identity.watch && n.under == s.under && n.number == s.number+1 &&
		q.neighbour(n) == nil
	if !first && !follows {
		q.succession = succession{}
		return false
	}
	streak := uint8(1)
	if s.streak > 0 && n.number == s.number+1 {
		streak = min(s.streak+1, maxStreak)
	}
	q.succession = succession{n.number, streak, n.under}
	if int(streak)+1 >= c.bounds.Streak && p.identity == (identity{}) && p.unwatched < suspected {
		p.identity.ask = c.ask(&Watch{Path: p.path}, identifying{p.path})
	}
	return true
}

// maxStreak bounds the count of successive nodes.
const maxStreak = 8

// identifying is the purpose of the Watch of a lock path.
type identifying struct{ path string }

func (p identifying) answered(c *Coordinator, _ uint64, answer Answer) {
	path, f := c.epoch.paths[p.path], answer.failure()
	if !f.none() {
		path.identity.ask, path.identity.refused = 0, f.is(NoAuth)
		return
	}
	path.identity.watch = path.identity.ask
	path.identity.timer = c.after(c.epoch.timeout, timer{kind: WatchTimer, path: p.path})
}

// counted counts whether the servers hang up on the watch of a lock path. It is asked for behind every create.
func (p identifying) counted(c *Coordinator, f Failure) {
	switch path := c.epoch.paths[p.path]; {
	case path == nil:
	case f.Outcome == Unknown && f.Trouble != "":
		path.unwatched++
	case f.none():
		path.unwatched = 0
	}
}

// forgetIdentity ends the belief in the watch of a lock path.
func (c *Coordinator) forgetIdentity(p *lockPath) {
	c.stop(p.identity.timer)
	p.identity = identity{}
}

// stale: the watch is not wanted any more, or was spent before its answer came.
func (p identifying) stale(c *Coordinator, id uint64) bool {
	path := c.epoch.paths[p.path]
	return path == nil || path.identity.ask != id
}
