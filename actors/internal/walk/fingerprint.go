package walk

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
)

// What an operation is called does not matter, only whether it is the current one: an event with any other number is stale
// for ever, because numbers only grow.
const (
	noOp = iota
	staleOp
	currentOp
)

// rename gives an operation of a request the name by which states are told apart.
func (w *world) rename(id coordinator.RequestID, op uint64) byte {
	switch {
	case op == 0 || id == 0:
		return noOp
	case op == w.actors[id-1].m.Op:
		return currentOp
	default:
		return staleOp
	}
}

// simplify makes states equal that behave alike: answers that can change nothing are dropped.
func (w *world) simplify() {
	for s := range w.sessions {
		sess := &w.sessions[s]
		sess.flights = slices.DeleteFunc(slices.Clone(sess.flights), func(f flight) bool { return sess.decides.Ignores(f.id) })
		if w.left.Lags == 0 && !sess.lagging {
			sess.seen = 0
			for i := range sess.flights {
				sess.flights[i].zxid = 0
			}
		}
	}
}

// fingerprint is 128 bits that stand for a state. That two of a thousand million states share one has a probability of less
// than 10^-20.
type fingerprint [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (w *world) fingerprint() fingerprint {
	e := writer{w.scratch[:0], w}
	for i := range w.plan.Sessions {
		e.actor(i)
	}
	for s := range w.sessions {
		e.session(s)
	}
	e.servers()
	l := w.left
	e.b = append(e.b, l.Cuts, l.Silences, l.Lapses, l.Expiries, l.Lags, l.Breaks, l.Asks, l.Reaps, l.Cancels, l.Timeouts, l.Revokes,
		l.Releases, l.Stops, l.Closes, l.Polls, l.Slow, l.Late)
	w.scratch = e.b
	return fingerprint{maphash.Bytes(seeds[0], e.b), maphash.Bytes(seeds[1], e.b)}
}

// writer writes a state in bytes.
type writer struct {
	b []byte
	w *world
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

func (e *writer) actor(i int) {
	a := &e.w.actors[i]
	e.flags(a.begun, a.stopped, a.slow, a.grace, a.toldHeld, a.toldSuspended, a.toldOver, a.broken, a.handed)
	if a.stopped {
		return
	}
	m := &a.m
	e.num(uint64(m.State), uint64(m.From), uint64(m.Ending), uint64(m.Token), a.epoch)
	if m.Holding() {
		e.num(a.held, a.run)
	}
	e.flags(m.Try, a.poll != 0 && a.poll == m.Op)
	e.text(m.Node)
	e.text(m.Predecessor)
	for _, n := range a.inbox {
		ev := &n.event
		e.num(uint64(ev.Kind), uint64(ev.Token), n.epoch)
		e.b = append(e.b, e.w.rename(coordinator.RequestID(i+1), ev.Op))
		e.flags(ev.Alone, ev.Missing, ev.First, ev.Unlock, ev.Reason != "")
		e.text(ev.Node)
		e.text(ev.Predecessor)
	}
}

func (e *writer) session(s int) {
	sess := &e.w.sessions[s]
	e.flags(sess.up, sess.linked, sess.ending, sess.established, sess.alive, sess.over, sess.lagging, sess.lease, sess.late)
	if sess.ending {
		return
	}
	e.num(uint64(sess.seen), sess.run)
	e.b = sess.decides.AppendState(e.b, e.w.rename)
	var all [][]byte
	for i := range sess.flights {
		all = append(all, e.flight(s, &sess.flights[i]))
	}
	slices.SortFunc(all, bytes.Compare) // which goroutine was started first does not matter
	for _, f := range all {
		e.num(uint64(len(f)))
		e.b = append(e.b, f...)
	}
	for _, in := range sess.wire {
		e.input(in)
	}
	e.b = append(e.b, 0xff)
	for _, in := range sess.mailbox {
		e.input(in)
	}
}

// flight writes a query that is under way.
func (e *writer) flight(s int, f *flight) []byte {
	one := writer{nil, e.w}
	one.b = e.w.sessions[s].decides.AppendPurpose(one.b, f.id, e.w.rename)
	one.num(uint64(f.stage), uint64(f.behind), uint64(f.zxid))
	one.flags(f.applied, f.lost, f.commits)
	switch q := f.query.(type) {
	case *coordinator.Find:
		one.text(q.Known)
	case *coordinator.Commit:
		for _, path := range slices.Concat(q.Deletes, q.Exist) {
			one.text(path)
		}
		for _, n := range q.Creates {
			one.num(uint64(n.Place))
		}
	case *coordinator.Create:
		one.flags(q.Info.Exists, q.Info.Counted, q.Info.Permits)
	case *coordinator.Check:
		one.text(q.Path)
	}
	if f.answer != nil {
		one.answer(f.answer)
	}
	return one.b
}

func (e *writer) failure(f coordinator.Failure) {
	e.num(uint64(f.Outcome), uint64(f.Cause))
	e.text(f.Path)
}

func (e *writer) view(v *coordinator.View) {
	e.num(uint64(v.Permits))
	e.failure(v.Failure)
	if v.Queue != nil {
		for _, name := range v.Queue.Names() {
			e.text(name)
		}
	}
	e.b = append(e.b, 0xff)
}

func (e *writer) made(m coordinator.Made) {
	e.text(m.Name)
	e.num(uint64(m.Czxid), uint64(m.Place), uint64(m.Siblings+1), uint64(m.Together))
}

func (e *writer) one(n *coordinator.OneNode) {
	if n != nil {
		e.flags(true, n.Ours)
		e.num(uint64(n.Czxid))
		e.text(n.GUID)
	}
	e.b = append(e.b, 0xff)
}

func (e *writer) answer(a coordinator.Answer) {
	switch a := a.(type) {
	case *coordinator.Created:
		e.made(a.Node)
		e.flags(a.Info.Counted)
		if a.Early != nil {
			e.view(a.Early)
		}
		e.one(a.Existing)
		e.failure(a.Failure)
	case *coordinator.Committed:
		for _, m := range a.Made {
			e.made(m)
		}
		e.failure(a.Failure)
	case *coordinator.Listed:
		e.view(&a.View)
	case *coordinator.Read:
		e.text(string(a.Data))
		e.num(uint64(a.Version), uint64(a.Czxid))
		e.failure(a.Failure)
	case *coordinator.Arrivals:
		e.flags(a.Alone, a.Spent)
	case *coordinator.Found:
		e.text(a.Name)
		e.num(uint64(a.Czxid))
		e.one(a.One)
		e.failure(a.Failure)
	case *coordinator.Done:
		e.failure(a.Failure)
	}
}

func (e *writer) input(in coordinator.Input) {
	switch in := in.(type) {
	case *coordinator.Order:
		e.num(1, uint64(in.Request), uint64(in.Do), in.Epoch)
		e.b = append(e.b, e.w.rename(in.Request, in.Op))
		e.text(in.Node)
		e.flags(in.Ending)
	case coordinator.Ended:
		e.num(2, uint64(in.Request))
	case coordinator.Changed:
		e.num(3, uint64(in.Change))
		e.text(in.Path)
	case coordinator.Connected:
		e.num(4)
	case coordinator.Disconnected:
		e.num(5)
	case coordinator.Expired:
		e.num(6)
	case *coordinator.Reply:
		e.num(7)
		e.answer(in.Answer)
	}
}

func (e *writer) servers() {
	z := &e.w.servers
	for _, n := range z.nodes {
		e.text(n.name)
		e.num(uint64(n.session), n.epoch, uint64(n.czxid), uint64(n.version))
		e.flags(n.wanted, n.doomed, n.watched[0], n.watched[1])
	}
	e.num(uint64(z.sequence), uint64(z.zxid), uint64(z.permits), uint64(e.w.newest))
	e.flags(z.children[0], z.children[1], z.data[0], z.data[1])
}
