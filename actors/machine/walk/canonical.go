package walk

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// What an operation is called does not matter, only whether it is the current one: an event with any
// other number is stale for ever, because numbers only grow.
const (
	staleOp   = 1
	currentOp = 2
)

// canonical makes states equal that behave alike.
func (w *world) canonical() {
	for i := range w.plan.Sessions {
		w.renumber(i)
		w.dropStaleNews(i)
		w.forgetAhead(i)
		w.forgetEnded(i)
	}
	for s := range w.sessions {
		sess := &w.sessions[s]
		if w.left.Lags == 0 && !sess.lagging {
			sess.seen = 0
			for at := range sess.tasks.all() {
				sess.tasks.at[at].zxid = 0
			}
		}
		sess.tasks.keep(func(t task) bool { return !w.idle(t) })
		w.sortTasks(sess)
	}
}

// renumber names the operations of a contender anew.
func (w *world) renumber(i int) {
	c, s := &w.contenders[i], w.sessionOf(i)
	current := c.Op
	if current == 0 {
		return
	}
	name := func(op *uint8) {
		switch *op {
		case 0:
		case current:
			*op = currentOp
		default:
			*op = staleOp
		}
	}
	for at := range c.inbox.all() {
		name(&c.inbox.at[at].Op)
	}
	for at := range c.outbox.all() {
		name(&c.outbox.at[at].Op)
	}
	for at := range c.known.later.all() {
		name(&c.known.later.at[at])
	}
	name(&c.known.vigil.op)
	name(&c.known.vigil.second.op)
	name(&c.known.own.op)
	for at := range w.members(w.plan.Sessions[i]) {
		if r := &w.contenders[at].known.rest; int(r.next) == i+1 {
			name(&r.op)
		}
	}
	for at := range s.parked.all() {
		if p := &s.parked.at[at]; int(p.contender) == i {
			name(&p.order.Op)
		}
	}
	for at := range s.tasks.all() {
		t := &s.tasks.at[at]
		if int(t.contender) == i {
			name(&t.op)
		}
		for _, l := range [...]*listers{&t.listing.waiting, &t.listing.late} {
			name(&l.ops[i])
			name(&l.ahead[i])
		}
	}
	if c.poll != current {
		c.poll = 0
	}
	name(&c.poll)
	c.Op = currentOp
}

// dropStaleNews drops news that would change nothing when it is heard: it answers an operation that has
// been superseded, and tells of no epoch that is not known already.
func (w *world) dropStaleNews(i int) {
	c := &w.contenders[i]
	epoch := c.epoch
	c.inbox.keep(func(n news) bool {
		if n.Op == staleOp && n.Epoch == epoch && n.Kind != machine.Expired {
			return false
		}
		epoch = n.Epoch
		return true
	})
	c.slow = c.slow && c.inbox.n > 0
}

// forgetEnded drops what no longer matters of a request that has ended.
func (w *world) forgetEnded(i int) {
	c := &w.contenders[i]
	if !c.stopped {
		return
	}
	clean := c.known
	clean.leaves, clean.next = false, 0
	clean.place, clean.mates, clean.laid, clean.enlisted, clean.vigil, clean.own, clean.second, clean.departed = 0, false, false, false, vigil{}, watcher{}, 0, 0
	if c.terminated && c.outbox.n == 0 && clean == (record{}) && !w.busyFor(i) {
		// Nothing is left of it but the session's note of its existence, which nothing depends on.
		c.known, c.terminated = record{}, false
	}
	*c = contender{
		begun: true, stopped: true, terminated: c.terminated,
		outbox: c.outbox, known: c.known, epoch: c.epoch,
		request: request{Op: c.Op},
		guid:    c.guid,
	}
	if c.outbox.n == 0 {
		c.epoch = 0
	}
}

// busyFor tells whether the session has anything of a contender but its record.
func (w *world) busyFor(i int) bool {
	s := w.sessionOf(i)
	for _, p := range s.parked.all() {
		if int(p.contender) == i {
			return true
		}
	}
	for _, t := range s.tasks.all() {
		if int(t.contender) == i && t.Do != machine.List {
			return true
		}
	}
	return int(s.newest) == i+1
}

// idle tells whether a task can change nothing any more: it reads for an operation that has been
// superseded, or brings an answer that will be dropped.
func (w *world) idle(t task) bool {
	r := &w.contenders[t.contender].known
	switch t.Do {
	case machine.List:
		for i := range w.plan.Sessions {
			for _, l := range [...]listers{t.listing.waiting, t.listing.late} {
				v := w.contenders[i].known.vigil
				if l.ops[i] == currentOp || l.ahead[i] != 0 && v.live && v.op == l.ahead[i] {
					return false
				}
			}
		}
		return !t.listing.active
	case machine.Watch:
		return !w.mistake(RegisterLate) && r.vigil.watcher != (watcher{node: t.node, op: t.op, live: true})
	case watchSecond:
		return r.vigil.second != (watcher{node: t.node, op: t.op, live: true}) || t.applied && t.result != noNode
	case machine.WatchOwn:
		return t.op == staleOp
	case checkRest:
		at := int(w.sessionOf(int(t.contender)).resting) - 1
		return t.result == unknown && (at < 0 || w.contenders[at].known.rest.next != t.contender+1)
	case machine.Verify:
		return !t.newest && t.result == unknown
	case machine.Delete:
		return t.op == staleOp && t.result == unknown
	default:
		return false
	}
}

// sortTasks puts the tasks of a session into an order: which goroutine was started first does not
// matter.
func (w *world) sortTasks(s *session) {
	var first uint8
	for i := range w.plan.Sessions {
		if w.sessionOf(i) == s {
			first = uint8(i)
			break
		}
	}
	for at := range s.tasks.all() {
		if t := &s.tasks.at[at]; t.Do == machine.List {
			t.contender = first // it belongs to all of them
		}
	}
	slices.SortFunc(s.tasks.all(), func(a, b task) int {
		x, y := a.key(), b.key()
		return bytes.Compare(x[:], y[:])
	})
}

// key orders tasks.
func (t task) key() [12]byte {
	flag := func(b bool, bit byte) byte {
		if b {
			return bit
		}
		return 0
	}
	var listeners, ahead byte
	for i := range t.listing.waiting.ops {
		listeners = listeners<<2 | t.listing.waiting.ops[i] ^ t.listing.late.ops[i]
		ahead = ahead<<2 | t.listing.waiting.ahead[i] ^ t.listing.late.ahead[i]
	}
	return [12]byte{
		byte(t.Do), t.contender, t.op, byte(t.node), byte(t.node >> 8), t.decided, byte(t.result), t.czxid, listeners, ahead, t.behind,
		flag(t.applied, 1) | flag(t.looked, 2) | flag(t.newest, 4) | flag(t.alone, 8) | flag(t.listing.active, 16) | flag(t.shared, 32) | t.place<<6,
	}
}

// fingerprint is 128 bits that stand for a state. That two of a thousand million states share one has a
// probability of less than 10^-20.
type fingerprint [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (s *state) fingerprint() fingerprint {
	return fingerprint{maphash.Comparable(seeds[0], *s), maphash.Comparable(seeds[1], *s)}
}
