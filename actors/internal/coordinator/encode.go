package coordinator

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Rename gives an operation of a request a name that says all that matters of it: whether it is the request's newest.
type Rename func(RequestID, uint64) byte

// AppendState writes the state in bytes, so that coordinators which behave alike write the same:
// numbers of queries and timers are left out, and the order of maps. AppendPurpose writes the
// queries that are under way, one by one. Package walk tells states apart by it.
func (c *Coordinator) AppendState(b []byte, rename Rename) []byte {
	e := encoder{b, rename}
	for _, r := range c.inOrder() {
		e.request(r)
	}
	ep := &c.epoch
	e.num(ep.number, flag(ep.connected), uint64(ep.batch.underway), uint64(ep.batch.passed), ep.leaseTerm,
		flag(ep.lapsed))
	for _, name := range slices.Sorted(maps.Keys(ep.paths)) {
		e.path(ep.paths[name])
	}
	for _, p := range ep.parked {
		e.operation(operation{p.request, p.effect.Op})
		e.num(uint64(p.effect.Do))
	}
	e.mark()
	e.num(uint64(ep.load.others), uint64(min(ep.strayHangUps, suspected)))
	e.changes(ep.batch.waiting)
	for _, all := range [][]operation{ep.reads.older, ep.reads.newer} {
		for _, o := range all {
			e.operation(o)
		}
		e.mark()
	}
	return e.timers(ep.timers)
}

// timers writes timers at the end, one after the other, and then in order.
func (e *encoder) timers(set map[uint64]timer) []byte {
	type span struct{ from, to int }
	all, begin := make([]span, 0, 8), len(e.b)
	for _, t := range set {
		from := len(e.b)
		e.num(uint64(t.kind))
		e.operation(t.operation)
		e.text(t.path, t.queue)
		all = append(all, span{from, len(e.b)})
	}
	slices.SortFunc(all, func(x, y span) int { return bytes.Compare(e.b[x.from:x.to], e.b[y.from:y.to]) })
	end := len(e.b)
	for _, s := range all {
		e.b = append(e.b, e.b[s.from:s.to]...)
	}
	return append(e.b[:begin], e.b[end:]...)
}

// AppendPurpose writes the purpose of a query that is under way.
func (c *Coordinator) AppendPurpose(b []byte, id uint64, rename Rename) []byte {
	e := encoder{b, rename}
	what := c.epoch.asked[id]
	if c.isStale(what, id) {
		e.text("nothing")
		return e.b
	}
	switch p := what.(type) {
	case creation:
		e.about("creation", p.operation)
		e.num(flag(p.batch), flag(p.looksUp))
	case transaction:
		e.text("transaction")
		e.changes(p.changes)
		e.text(p.exist...)
		e.mark()
		e.num(flag(p.batch))
	case watchSet:
		e.about("watchSet", p.operation, p.name)
		e.num(uint64(p.same.permits), flag(p.same.unwritten))
	case aheadWatchSet:
		e.about("aheadWatchSet", p.operation, p.name)
	case identifying:
		e.text("identifying", p.path)
	case listed:
		e.text("listed", p.path)
	case interface{ of() operation }: // and nothing more
		e.about(fmt.Sprintf("%T", p), p.of())
	default: // without an operation
		e.text(fmt.Sprintf("%T%v", p, p))
	}
	return e.b
}

// encoder writes the values that tell states apart.
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

func (e *encoder) operation(o operation) {
	e.num(uint64(o.request))
	e.op(o.request, o.op)
}

func (e *encoder) changes(all []change) {
	for _, ch := range all {
		e.operation(ch.operation)
		e.text(ch.node)
	}
	e.mark()
}

// about writes the purpose of a query, and the operation that it serves.
func (e *encoder) about(purpose string, o operation, names ...string) {
	e.text(purpose)
	e.operation(o)
	e.text(names...)
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

func (e *encoder) request(r *request) {
	e.num(uint64(r.id), uint64(r.life), flag(r.held), uint64(r.own.phase), flag(r.own.announced), uint64(r.removal.phase),
		flag(r.removal.shortHold), flag(r.admitted), flag(r.asks.contention != 0), flag(r.asks.check != 0), uint64(r.inherited))
	for _, op := range [...]uint64{r.own.op, r.search, r.removal.op} {
		e.op(r.id, op)
	}
	e.num(uint64(r.view.before), uint64(r.view.permits))
	e.text(r.view.head, r.view.lookAhead, r.view.departed, r.view.written)
	e.text(r.view.front...)
	e.mark()
	e.text(r.view.earlier...)
	e.mark()
	if w := r.wait; w != nil {
		e.op(r.id, w.op)
		e.num(flag(w.children), uint64(w.pending), flag(w.remote))
		e.text(w.lookAhead)
		e.text(w.nodes...)
	}
	e.mark()
	if v := r.early; v != nil {
		e.num(uint64(v.Permits), uint64(v.Failure.Outcome))
		e.text(string(v.Failure.Cause))
		if v.Queue != nil {
			e.text(v.Queue.Names()...)
		}
		e.mark()
	}
	if p := r.pace; p != nil {
		e.num(uint64(p.do), uint64(min(p.failures, suspected)), flag(p.deferred), flag(p.rested), flag(p.timer != 0),
			uint64(p.waiting.Do))
		e.op(r.id, p.waiting.Op)
	}
	e.mark()
	if !r.node.exists() { // the others are written with their queues
		e.node(r.node, r.queue.path.identity)
	}
}

func (e *encoder) node(n *node, i identity) {
	e.num(uint64(n.phase), uint64(n.place), flag(n.lost), flag(n.batchMates), uint64(n.attempt), uint64(n.token), flag(n.under != 0 && n.under == i.watch))
	e.text(n.name)
	if next := n.nextHolder(); next != nil {
		e.text(next.name)
	}
	e.mark()
}

func (e *encoder) path(p *lockPath) {
	e.text(p.path)
	e.num(flag(p.info.Exists), flag(p.info.Permits), flag(p.info.Crowded), flag(p.identity.ask != 0), flag(p.identity.watch != 0), flag(p.identity.refused), flag(p.lookup.underway))
	l := &p.look
	e.num(flag(l.ask != 0), flag(l.timer != 0), uint64(min(l.hangUps, suspected)), flag(l.late > 0), flag(l.due))
	for _, all := range [][]RequestID{l.covered, l.joined} {
		for _, id := range all {
			e.num(uint64(id))
		}
		e.mark()
	}
	e.text(p.strays...)
	e.mark()
	e.changes(p.lookup.waiting)
	for _, q := range p.queues {
		e.queue(q)
	}
	for _, name := range slices.Sorted(maps.Keys(p.watchers)) {
		e.watchers(name, p.watchers[name])
	}
	if l := p.listing; l != nil {
		e.num(uint64(l.permits))
		e.lister(l.first)
		for _, w := range l.after {
			e.lister(w)
		}
	}
	e.mark()
}

func (e *encoder) watchers(name string, all []watcher) {
	e.text(name)
	for _, w := range all {
		e.num(uint64(w.request), uint64(w.role))
	}
	e.mark()
}

func (e *encoder) lister(w lister) {
	e.operation(w.operation)
	e.num(flag(w.lookAhead))
}

func (e *encoder) queue(q *ownQueue) {
	e.text(q.name, q.one)
	for _, n := range q.nodes {
		e.node(n, q.path.identity)
	}
	e.mark()
	s := q.succession
	e.num(uint64(s.number), uint64(s.streak), flag(s.under != 0 && s.under == q.path.identity.watch))
	b := &q.burst
	e.num(uint64(b.phase), uint64(b.remote), uint64(b.departed), uint64(b.returned), flag(b.timer != 0))
	e.changes(b.creates)
	e.changes(b.deletes)
	e.mark()
}
