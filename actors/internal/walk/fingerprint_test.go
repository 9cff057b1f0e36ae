package walk

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
)

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func printOf(b []byte) fingerprint {
	return fingerprint{maphash.Bytes(seeds[0], b), maphash.Bytes(seeds[1], b)}
}

// simplify makes states equal that behave alike: answers that can change nothing are dropped.
func (w *world) simplify() {
	for s := range w.told {
		if w.told[s] || w.plan.Calls != nil && w.clients[s].print == [2]uint64{} {
			w.printTurns(s)
		}
	}
	for s := range w.sessions {
		sess := &w.sessions[s]
		ignored := func(f flight) bool { return sess.decides.Ignores(f.id) }
		if slices.ContainsFunc(sess.flights, ignored) {
			sess.flights = slices.DeleteFunc(slices.Clone(sess.flights), ignored)
		}
		if w.left[Lags] == 0 && sess.link != lagging {
			sess.seen = 0
		}
	}
}

// printTurns gives turns the hash of their state.
func (w *world) printTurns(s int) {
	c := &w.clients[s]
	if c.turns == nil {
		c.turns = c.heard.again()
	}
	c.print = printOf(prints.Append(nil, reflect.ValueOf(c.turns), printing{w: w}))
}

// writer writes the state of a world in bytes.
type writer struct {
	b []byte
	w *world
}

func newWriter(w *world) *writer { return &writer{w: w} }

// fingerprint gives the fingerprint of the state of the world.
func (e *writer) fingerprint() fingerprint {
	e.b = e.b[:0]
	for i := range e.w.plan.Sessions {
		e.actor(i)
	}
	for s := range e.w.sessions {
		e.session(s)
	}
	e.servers()
	e.callers()
	e.b = append(e.b, e.w.left[:]...)
	return printOf(e.b)
}

func (e *writer) num(all ...uint64) {
	for _, n := range all {
		e.b = binary.AppendUvarint(e.b, n)
	}
}

func (e *writer) text(s string) {
	e.num(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *writer) flags(all ...bool) {
	var bits uint64
	for _, b := range all {
		bits <<= 1
		if b {
			bits |= 1
		}
	}
	e.num(bits)
}

// mark ends a list.
func (e *writer) mark() { e.b = append(e.b, 0xff) }

// hash takes away what was written since a place, and gives its fingerprint.
func (e *writer) hash(since int) (p fingerprint) {
	p = printOf(e.b[since:])
	e.b = e.b[:since]
	return p
}

func (e *writer) actor(i int) {
	a := &e.w.actors[i]
	e.num(uint64(a.life), uint64(a.is))
	if a.life == stopped {
		if e.w.left[Returns] > 0 {
			e.text(a.m.Node)
			e.num(a.epoch)
		}
		return
	}
	m := &a.m
	e.num(uint64(m.State), uint64(m.From), uint64(m.Ending), uint64(m.Token), uint64(m.Places), a.epoch)
	if m.Holding() {
		e.num(a.held, a.term)
	}
	e.flags(m.Counted, m.Unwatched, a.poll != 0 && a.poll == m.Op)
	e.text(m.Node)
	e.text(m.Predecessor)
	e.askedFor(&a.asked)
	e.text(a.beside)
	for at := range a.inbox {
		e.envelope(coordinator.RequestID(i+1), &a.inbox[at])
	}
	e.mark()
}

func (e *writer) envelope(id coordinator.RequestID, n *envelope) {
	ev := &n.event
	e.num(uint64(ev.Kind), uint64(ev.Token), uint64(ev.Places), uint64(ev.Before), n.epoch)
	e.b = append(e.b, e.w.rename(id, ev.Op))
	e.flags(ev.Missing, ev.First, ev.Unlock, ev.Reason != "")
	e.text(ev.Node)
	e.text(ev.Predecessor)
}

// askedFor writes for what turns have asked for a lock actor.
func (e *writer) askedFor(ask *askedFor) {
	if ask.call == 0 {
		return
	}
	e.num(uint64(ask.call), uint64(ask.beside), uint64(uint32(ask.hold)), uint64(ask.due), uint64(ask.sure))
	e.flags(ask.hold == 0, ask.try, ask.shared, ask.leaves, ask.ended, ask.watched, ask.granted)
}

// callers writes what callers and clients know.
func (e *writer) callers() {
	for k := range e.w.plan.Calls {
		c := &e.w.calls[k]
		e.num(uint64(c.phase), uint64(uint32(c.id)), uint64(c.on), c.epoch, c.term, uint64(c.due))
		e.flags(c.id == 0)
	}
	if e.w.plan.Calls == nil {
		return
	}
	for s := range e.w.clients {
		c := &e.w.clients[s]
		e.num(c.print[0], c.print[1])
		e.flags(c.closed)
	}
	for _, all := range [...][maxPaths]tops{e.w.granted, e.w.own[0], e.w.own[1]} {
		for _, top := range all {
			e.num(uint64(top.alone), uint64(top.any))
		}
	}
	e.num(uint64(e.w.at))
}

// session writes a session. The order in which queries were sent does not matter, nor that in which timers were
// started.
func (e *writer) session(s int) {
	sess := &e.w.sessions[s]
	e.b = append(e.b, byte(sess.served), byte(sess.link))
	e.flags(sess.up, sess.lease, sess.late, sess.closed, sess.lapsed, sess.moved)
	for _, in := range sess.mailbox {
		e.input(s, in)
	}
	e.mark()
	for _, all := range [...][]sent{sess.sent, sess.outlive} {
		for _, late := range all {
			e.num(late.epoch)
			e.value(reflect.ValueOf(late.query))
		}
		e.mark()
	}
	if sess.closed {
		return
	}
	if e.w.owned[s] || e.w.stepped[s] || sess.print == (fingerprint{}) {
		since := len(e.b)
		e.value(reflect.ValueOf(sess.decides))
		sess.print = e.hash(since)
	}
	var flights fingerprint
	for i := range sess.flights {
		since := len(e.b)
		e.flight(s, &sess.flights[i])
		one := e.hash(since)
		flights[0], flights[1] = flights[0]+one[0], flights[1]+one[1]
	}
	e.num(uint64(sess.seen), sess.term, sess.print[0], sess.print[1], flights[0], flights[1], uint64(setTimers(e.w, s)))
	for _, in := range sess.wire {
		e.input(s, in)
	}
	e.mark()
}

// flight writes a query that is under way. The query and its answer are plain data, and hashed once.
func (e *writer) flight(s int, f *flight) {
	if f.print == (fingerprint{}) {
		since := len(e.b)
		e.value(reflect.ValueOf(f.query))
		e.value(reflect.ValueOf(&f.answer))
		f.print = e.hash(since)
	}
	e.b = e.w.appendPurpose(e.b, e.w.sessions[s].decides, f.id)
	e.num(uint64(f.stage), uint64(f.behind), f.print[0], f.print[1])
	if e.w.left[Lags] > 0 || e.w.sessions[s].link == lagging {
		e.num(uint64(f.zxid))
	}
	e.flags(f.applied, f.lost, f.commits)
}

// input writes what is on its way to the coordinator of a session.
func (e *writer) input(s int, in coordinator.Input) {
	e.text(reflect.TypeOf(in).String())
	switch in := in.(type) {
	case *coordinator.Order:
		e.num(uint64(in.Request), uint64(in.Do), in.Epoch)
		e.b = append(e.b, e.w.rename(in.Request, in.Op))
		e.text(in.Node)
		e.flags(in.Ending)
	case *coordinator.Reply:
		e.b = e.w.appendPurpose(e.b, e.w.sessions[s].decides, in.ID)
		e.value(reflect.ValueOf(in.Answer))
	default:
		e.value(reflect.ValueOf(in))
	}
}

// value writes plain data.
func (e *writer) value(v reflect.Value) { e.b = prints.Append(e.b, v, printing{w: e.w}) }

func (e *writer) servers() {
	z := &e.w.servers
	for _, g := range z.guards {
		e.text(g.name)
		e.num(uint64(g.czxid), uint64(g.session), g.epoch)
	}
	e.num(uint64(len(z.guards)))
	for i := range z.nodes {
		n := &z.nodes[i]
		e.text(n.name)
		e.text(n.id) // which the name of a contest's node does not have
		e.num(uint64(n.path), uint64(n.session), n.epoch, uint64(n.czxid), uint64(n.version), uint64(n.most))
		e.flags(n.guard != "", n.wanted, n.named, n.doomed, n.forsaken, n.orphan, n.back, n.watched[0], n.watched[1])
	}
	e.num(uint64(z.zxid), uint64(z.permits))
	for path := range lockPaths {
		e.num(uint64(z.sequence[path]), uint64(e.w.newest[path]))
		e.flags(z.children[path][0], z.children[path][1])
	}
	for path := range lockPaths {
		e.flags(z.data[path][0], z.data[path][1])
	}
}
