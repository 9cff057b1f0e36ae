package coordinator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// The bound on waiters (back-pressure, load shedding): messages.Acquire.MaxWaiters. A request that would have to wait
// is refused where so many contenders, or more, are before it. It looks before it creates: a refused request never had
// a node.
//
//   - Where its own session has too many requests before it already, it is refused at once.
//     Requests without nodes count, too. A request for permits is not refused so: the listing tells
//     how many permits there are, and a mistake in the request itself is told before the state of
//     the queue.
//   - Otherwise the queue is listed, which is a round trip. Contenders of other sessions are
//     counted as they were listed, the requests of its own session as they are when the answer
//     comes. So within a session the bound is exact. Sessions that look at the same moment may each
//     find room, and go beyond it together.
//   - Answers may come in another order than that in which the queue was asked for. So an answer
//     also decides the requests of the session that asked before: they came first, and it is newer
//     than the listing that they asked for.
//   - In the line of a node that has the lock, nobody of another session is before it: nothing is listed.
//   - A request that need not wait is not refused. Nor is one that was let in once: not after a
//     loss of the connection or of the session, and not for looking again.
//
// A node counts as one contender, however many hold with it.

// withinBoundOf is withinBound with a listing of the queue. ours are the prefixes of the nodes that
// this session had when it asked for the listing: a listed node of them that has gone since is not
// counted as another session's.
func (c *Coordinator) withinBoundOf(view *View, ours []string, r *request, s seat) seat {
	if !r.isBounded(s) {
		return s
	}
	if wrong := r.disagrees(view.Permits); view.Permits > 0 && wrong != "" {
		return seat{kind: refused, why: messages.ReasonPermits, detail: wrong}
	}
	ahead := c.ownAhead(r, s)
	counted := append(r.queue.ownPrefixes(), ours...)
	if s.node != nil && s.node.exists() { // only the listing tells which of the coming nodes are before it
		coming := r.queue.comingPrefixes()
		counted = slices.DeleteFunc(counted, func(prefix string) bool { return slices.Contains(coming, prefix) })
	}
	for _, e := range view.Queue.Entries(r.spec.Style.Name) {
		isCounted := func(prefix string) bool { return strings.HasPrefix(e.Child, prefix) }
		if !slices.ContainsFunc(counted, isCounted) && !s.isBefore(e.Sequence) {
			ahead = append(ahead, e.Style)
		}
	}
	if r.exceeds(ahead, cmp.Or(view.Permits, r.spec.Permits)) {
		return r.tooMany(len(ahead))
	}
	return s
}

// ownPrefixes gives the prefixes of the names of a session's nodes in a queue. Each belongs to one
// request, so a request whose node was lost and made again is recognised in a listing that shows
// the node before.
func (q *ownQueue) ownPrefixes() (all []string) {
	for _, n := range q.nodes {
		all = append(all, n.name[:len(n.name)-sequenceDigits])
	}
	return append(all, q.comingPrefixes()...)
}

// comingPrefixes gives the prefixes of nodes that are being made, or whose creates have an unknown
// outcome.
func (q *ownQueue) comingPrefixes() (all []string) {
	for _, sp := range q.coming {
		all = append(all, sp.Style.Prefix(sp.GUID))
	}
	return all
}

// countAhead has the queue listed before a request makes its node.
func (c *Coordinator) countAhead(r *request, op uint64) {
	q := r.queue
	for len(q.looks) > 0 && c.epoch.asked[q.looks[0]] == nil {
		q.looks = q.looks[1:]
	}
	r.sharing.waitingCreate = op
	id := c.ask(&List{Path: r.spec.Path, Permits: r.spec.Permits}, countingAhead{operation{r.id, op}, q.ownPrefixes()})
	q.looks = append(q.looks, id)
}

// countingAhead is the purpose of a List that counts the contenders before a request, which may or may not queue. ours
// are the prefixes of its session's nodes at the time of the query.
type countingAhead struct {
	operation
	ours []string
}

// stale: the request has gone on. While the connection is down nothing is made; its machine asks anew when it is back.
func (p countingAhead) stale(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.life == ended || r.sharing.waitingCreate != p.op || !c.epoch.connected
}

// takeLooksBefore takes the looks at a queue that were asked for before one that is answered, in order. Their own answers
// find nobody then.
func (c *Coordinator) takeLooksBefore(r *request, id uint64) (all []countingAhead) {
	q := r.queue
	var others []uint64
	for len(q.looks) > 0 && q.looks[0] <= id { // each is looked at once: thousands may look together
		asked := q.looks[0]
		q.looks = q.looks[1:]
		p, looks := c.epoch.asked[asked].(countingAhead)
		switch {
		case !looks || p.stale(c, asked):
		case c.requests[p.request].spec.Permits != r.spec.Permits:
			others = append(others, asked)
		default:
			all = append(all, p)
			delete(c.epoch.asked, asked)
		}
	}
	if len(others) > 0 {
		q.looks = append(others, q.looks...)
	}
	return all
}
