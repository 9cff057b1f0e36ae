package coordinator

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Rename gives an operation of a request a name that says all that matters of it: whether it is the request's newest.
type Rename func(RequestID, uint64) byte

// AppendState writes the state in bytes, so that coordinators which behave alike write the same: numbers of queries and
// timers are left out, and the order of maps. What is under way is written by AppendPurpose, query by query. Package walk
// tells states apart by it.
func (c *Coordinator) AppendState(b []byte, rename Rename) []byte {
	e := encoder{b, rename}
	for _, r := range c.inOrder() {
		e.request(r)
	}
	ep := &c.epoch
	e.num(ep.number, uint64(ep.connection), uint64(ep.batch.underway), ep.run, flag(c.urgent))
	for _, name := range inOrder(ep.paths) {
		e.path(c, ep.paths[name])
	}
	for _, p := range ep.parked {
		e.num(uint64(p.request), uint64(p.effect.Do))
		e.op(p.request, p.effect.Op)
	}
	e.mark()
	e.changes(ep.batch.waiting)
	for _, all := range [][]reading{ep.reads.older, ep.reads.newer} {
		for _, d := range all {
			e.num(uint64(d.request))
			e.op(d.request, d.op)
		}
		e.mark()
	}
	return c.timers(e)
}

// AppendPurpose writes what a query that is under way is for.
func (c *Coordinator) AppendPurpose(b []byte, id uint64, rename Rename) []byte {
	e := encoder{b, rename}
	if what := c.epoch.asked[id]; what != nil {
		what.encode(c, &e, id)
	}
	return e.b
}

// Ignores tells whether the answer to a query can change nothing any more.
func (c *Coordinator) Ignores(id uint64) bool {
	what := c.epoch.asked[id]
	return what == nil || what.ignored(c, id)
}

// timers writes those that are set, but for those of heartbeats, which go on for ever and write nothing. They are written at
// the end first, one after the other, and then put in order.
func (c *Coordinator) timers(e encoder) []byte {
	all, begin := make([]span, 0, 8), len(e.b)
	for _, what := range c.epoch.timers {
		from := len(e.b)
		if what.encode(&e); len(e.b) > from {
			all = append(all, span{from, len(e.b)})
		}
	}
	slices.SortFunc(all, func(x, y span) int { return bytes.Compare(e.b[x.from:x.to], e.b[y.from:y.to]) })
	end := len(e.b)
	for _, s := range all {
		e.b = append(append(e.b, e.b[s.from:s.to]...), 0xff)
	}
	return append(e.b[:begin], e.b[end:]...)
}

// span is a part of what was written.
type span struct{ from, to int }

// inOrder gives the keys of a map in their order.
func inOrder[V any](m map[string]V) []string {
	all := make([]string, 0, len(m))
	for key := range m {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// encoder writes bytes.
type encoder struct {
	b      []byte
	rename Rename
}

func (e *encoder) num(all ...uint64) {
	for _, n := range all {
		e.b = binary.AppendUvarint(e.b, n)
	}
}

func (e *encoder) text(all ...string) {
	for _, s := range all {
		e.num(uint64(len(s)))
		e.b = append(e.b, s...)
	}
}

// mark ends a list.
func (e *encoder) mark() { e.b = append(e.b, 0xfe) }

func (e *encoder) op(r RequestID, op uint64) { e.b = append(e.b, e.rename(r, op)) }

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

func (e *encoder) changes(all []change) {
	for _, ch := range all {
		e.num(uint64(ch.request))
		e.op(ch.request, ch.op)
		e.text(ch.node)
	}
	e.mark()
}

func (e *encoder) ids(all []RequestID) {
	for _, id := range all {
		e.num(uint64(id))
	}
	e.mark()
}

func (e *encoder) request(r *request) {
	e.num(uint64(r.id), uint64(r.life), flag(r.held), uint64(r.own.phase), flag(r.own.announced), uint64(r.removal.phase),
		flag(r.sharing.under), uint64(r.inherited))
	for _, op := range []uint64{r.own.op, r.looking.op, r.looking.later, r.removal.op, r.sharing.waits} {
		e.op(r.id, op)
	}
	e.num(uint64(r.view.before), uint64(r.view.permits))
	e.text(r.view.second, r.view.departed, r.view.written)
	e.text(r.view.front...)
	e.mark()
	e.text(r.view.ahead...)
	e.mark()
	if w := r.wait; w != nil {
		e.op(r.id, w.op)
		e.num(flag(w.all), uint64(w.pending), flag(w.head), flag(w.remote))
		e.text(w.ahead)
		e.text(w.nodes...)
	}
	e.mark()
	if r.early != nil {
		e.view(r.early)
	}
	if !r.node.exists() { // the others are written with their queues
		e.node(r.node)
	}
}

func (e *encoder) node(n *node) {
	e.num(uint64(n.phase), uint64(n.place), flag(n.mates), flag(n.wanted), uint64(n.token), uint64(n.arrivals))
	e.text(n.name, n.guid)
	e.ids(n.users)
	if next := n.nextHolder(); next != nil {
		e.text(next.name)
	}
	e.mark()
}

func (e *encoder) view(v *View) {
	e.num(uint64(v.Permits), uint64(v.Failure.Outcome), uint64(v.Failure.Cause))
	if v.Queue != nil {
		e.text(v.Queue.Names()...)
	}
	e.mark()
}

func (e *encoder) path(c *Coordinator, p *lockPath) {
	e.text(p.path)
	e.num(flag(p.info.Exists), flag(p.info.Counted), flag(p.info.Permits), flag(p.probe.underway))
	e.changes(p.probe.waiting)
	for _, q := range p.queues {
		e.queue(q)
	}
	e.watchers("", p.children)
	for _, name := range inOrder(p.watchers) {
		e.watchers(name, p.watchers[name])
	}
	if p.listing != nil {
		e.num(uint64(p.listing.permits))
		e.listers(p.listing.waiting)
		e.listers(p.listing.late)
	}
	e.mark()
}

func (e *encoder) watchers(name string, all []watcher) {
	e.text(name)
	for _, w := range all {
		e.num(uint64(w.request), uint64(w.role))
		e.text(w.node)
	}
	e.mark()
}

func (e *encoder) listers(all []lister) {
	for _, w := range all {
		e.num(uint64(w.request), flag(w.ahead))
		e.op(w.request, w.op)
	}
	e.mark()
}

func (e *encoder) queue(q *ownQueue) {
	e.text(q.name, q.one)
	for _, n := range q.nodes {
		e.node(n)
	}
	e.mark()
	e.ids(q.members)
	if q.one != "" {
		e.num(uint64(q.newest))
	}
	for _, owner := range inOrder(q.owners) {
		e.text(owner)
		e.ids(q.owners[owner])
	}
	e.num(uint64(q.row.turn), uint64(q.row.remote), uint64(q.row.departed), uint64(q.row.back))
	e.changes(q.row.creates)
	e.changes(q.row.deletes)
	e.num(flag(q.row.timer != 0))
	if q.retained != nil {
		e.num(uint64(q.retained.request), uint64(q.retained.next), flag(q.retained.timer != 0))
		e.op(q.retained.next, q.retained.op)
	}
	e.mark()
}
