package turns

import (
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/snapshot"
)

// plan is what happens in a walk: calls, in this order, and how often each of the rest.
type plan struct {
	name   string
	calls  []string // in the words of the stories; within=0 is the first call
	bounds Bounds
	budget
	unreadable, placeless bool // of holds: may not be read, have no free places
	bounded               bool // listings are told
}

// budget says how often each of these may happen.
type budget struct{ withdraws, refusals, cuts, lapses, deletes, revokes, others, txns, unfenced, ticks int }

const (
	tick    = 5 * time.Second // two of them are a rest, and one is more than the time of a hold
	timeout = time.Minute
)

// world is a machine over a small model of what is below: one queue of nodes, of this client and of
// one that does nothing but lock. It knows by itself what a grant needs.
type world struct {
	*plan
	budget
	turns *Turns
	at    time.Duration
	term  uint64
	calls []wcall
	holds []whold           // by slot
	order []int             // nodes at the servers, by slot; -1 is another client's
	zxid  int               // of the newest node
	top   [2]messages.Token // granted: to any call, to one that does not read
	steps int
}

type wcall struct {
	id    CallID
	phase wphase
	hold  int
	seq   int
	due   time.Duration
}

type wphase uint8

const (
	toCome wphase = iota
	inLine
	has
	over
)

type whold struct {
	id     HoldID
	phase  below
	want   *Want
	beside int
	zxid   int

	suspended, watched, checks, revoked, deleted, unfenced bool
	watch                                                  ownRivals
	listed, crossing                                       bool // crossing: it was cancelled as it held

	users, txns, grants, counted, seq int
	term                              uint64
	ran, sure, kept, due              time.Duration
}

type below uint8

const (
	none below = iota
	queued
	granted
	leaves
)

type ownRivals uint8

const (
	notWatched ownRivals = iota
	unfired
	fired
)

// move is one input; of is a call or a slot.
type move struct {
	what string
	of   int
}

func (w *world) want(i int) *Want { return wants[w.plan.calls[i]] }

// wants are the requests by their words, one for all worlds.
var wants = map[string]*Want{}

func (w *world) within(i int) int {
	return words(strings.Fields(w.plan.calls[i])).number("within", -1)
}

func newWorld(p *plan) *world {
	for _, text := range p.calls {
		wants[text] = words(strings.Fields(text)).want()
	}
	b := p.bounds
	if b == (Bounds{}) {
		b = DefaultBounds()
	}
	return &world{plan: p, budget: p.budget, turns: New(b), at: time.Minute, term: 1, calls: make([]wcall, len(p.calls))}
}

// copies copies machines.
var copies = snapshot.NewCopier[Turns](reflect.TypeFor[Want]())

func (w *world) clone() *world {
	n := *w
	n.turns, n.calls, n.holds, n.order = copies.Copy(w.turns), slices.Clone(w.calls), slices.Clone(w.holds), slices.Clone(w.order)
	return &n
}

func (w *world) print(b []byte) []byte {
	u := w.budget
	b = append(w.turns.print(b), byte(u.withdraws), byte(u.refusals), byte(u.cuts), byte(u.lapses), byte(u.deletes), byte(u.revokes),
		byte(u.others), byte(u.txns), byte(u.unfenced), byte(u.ticks), byte(len(w.order)))
	for _, o := range w.order {
		b = append(b, byte(o))
	}
	for _, c := range w.calls {
		b = append(b, byte(c.phase), byte(c.hold))
	}
	for _, h := range w.holds {
		b = append(b, byte(h.phase))
		if h.phase == none {
			continue
		}
		for _, v := range []bool{h.suspended, h.watched, h.checks, h.revoked, h.deleted, h.unfenced, h.crossing, h.listed, h.term == w.term} {
			if v {
				b = append(b, 1)
			}
			b = append(b, 0)
		}
		b = append(b, byte(h.watch), byte(h.users), byte(h.txns), byte(h.grants), byte(h.counted), byte(h.ran/time.Second),
			byte(min(10, (w.at-h.sure)/time.Second)), byte((w.at-h.kept)/time.Second))
	}
	return b
}

// noLease is that of an input which comes without a look at the clock.
type noLease struct{}

// Unbroken is false.
func (noLease) Unbroken(_, _ uint64) bool { return false }

// Unbroken is the lease of the world.
func (w *world) Unbroken(_, term uint64) bool { return term == w.term }

// canHold reports whether the servers let a hold in.
func (w *world) canHold(slot int) bool {
	for _, o := range w.order {
		switch {
		case o == slot:
			return true
		case o >= 0 && (w.holds[slot].beside == o || w.holds[slot].want.Mode == messages.Read && w.holds[o].want.Mode == messages.Read):
		default:
			return false
		}
	}
	return false // it is deleted
}

// moves gives what may happen; calm leaves out what a quiet world does not do.
func (w *world) moves(calm bool) (all []move) {
	can := func(n int) bool { return n > 0 && !calm }
	add := func(may bool, what string, of int) {
		if may {
			all = append(all, move{what, of})
		}
	}
	for s := range w.holds {
		h := &w.holds[s]
		switch h.phase {
		case queued:
			add(w.canHold(s), "held", s)
			add(can(w.refusals), "refused", s)
			add(w.bounded && !h.listed && !w.canHold(s), "waiting", s)
		case granted:
			gone := h.deleted || h.term != w.term
			add(gone, "lost", s)
			add(!h.suspended && !h.watched && !gone, "watched", s)
			add(!h.suspended && h.checks && !gone, "checked", s)
			add(!h.suspended && h.watch == unfired && len(w.order) > 1 && !gone, "contended", s)
			add(h.suspended && !gone, "resumed", s)
			add(!h.suspended && can(w.cuts), "suspended", s)
			add(!gone && can(w.deletes), "delete", s)
			add(!h.revoked && can(w.revokes), "revoke", s)
			add(h.txns > 0, "ends", s)
			add(h.txns > 0 && can(w.unfenced), "ends unfenced", s)
		case leaves:
			add(h.crossing, "held late", s)
			add(true, "gone", s)
		}
	}
	made := false
	for i := range w.calls {
		c := &w.calls[i]
		switch c.phase {
		case toCome:
			add(!calm && !made, "call", i)
			made = true
		case inLine:
			add(can(w.withdraws), "withdraw", i)
		case has:
			add(true, "back", i)
			add(can(w.txns), "begins", i)
		}
	}
	add(len(w.order) > 0 && w.order[0] == -1, "other leaves", 0)
	add(can(w.others), "other comes", 0)
	add(can(w.lapses), "lapse", 0)
	add(can(w.ticks), "tick", 0)
	return all
}

// do makes a move, carries out what follows, and checks it.
func (w *world) do(mv move) error {
	t := w.turns
	m := Moment{At: w.at, Lease: w}
	w.steps++
	var h *whold
	if mv.of < len(w.holds) {
		h = &w.holds[mv.of]
	}
	switch mv.what {
	case "call":
		var lease CallID
		if of := w.within(mv.of); of >= 0 {
			if w.calls[of].phase != has { // there is no such lease: nobody calls
				w.calls[mv.of].phase = over
				return nil
			}
			lease = w.calls[of].id
		}
		w.calls[mv.of].phase, w.calls[mv.of].seq = inLine, w.steps
		id := t.Call(m, w.want(mv.of), lease)
		w.calls[mv.of].id = id
	case "withdraw":
		w.withdraws--
		w.calls[mv.of].phase = over
		for s := range w.holds {
			w.holds[s].kept = w.at
		}
		t.Withdraw(m, w.calls[mv.of].id)
	case "back":
		w.end(mv.of)
		t.GiveBack(m, w.calls[mv.of].id)
	case "begins":
		w.budget.txns--
		w.holds[w.calls[mv.of].hold].txns++
		t.TxnBegun(w.calls[mv.of].id)
	case "ends", "ends unfenced":
		h.kept = w.at
		if h.txns--; mv.what != "ends" {
			w.budget.unfenced--
			h.unfenced = true
		}
		t.TxnEnded(m, h.id, mv.what == "ends")
	case "held":
		h.phase, h.term, h.sure, h.seq = granted, w.term, w.at, w.steps
		h.kept = w.at
		t.Held(m, h.id, w.below(h), timeout)
	case "held late":
		h.crossing = false
		t.Held(m, h.id, w.below(h), timeout)
	case "waiting":
		h.listed = true
		t.Hear(m, h.id, &messages.Waiting{Before: slices.Index(w.order, mv.of)})
	case "refused":
		w.refusals--
		w.leave(mv.of)
		id := h.id
		h.phase = none
		t.Ended(m, id, messages.ReasonNoAuth, "")
	case "watched":
		h.watched = true
		t.Hear(m, h.id, &messages.Watched{Readable: !w.unreadable})
	case "checked":
		h.checks, h.sure = false, w.at
		t.Hear(m, h.id, &messages.Checked{})
	case "contended":
		h.watch = fired
		t.Hear(m, h.id, &messages.Contended{})
	case "suspended":
		w.cuts--
		h.suspended, h.watched, h.checks = true, false, false
		t.Hear(m, h.id, &messages.Suspended{})
	case "resumed":
		h.suspended = false
		t.Hear(m, h.id, &messages.Resumed{})
	case "delete":
		w.deletes--
		w.leave(mv.of)
		h.deleted = true
		return nil
	case "lost":
		w.leave(mv.of)
		for i := range w.calls {
			if w.calls[i].phase == has && w.calls[i].hold == mv.of {
				w.calls[i].phase = over
			}
		}
		if h.deleted {
			h.phase = none
			t.Ended(m, h.id, messages.ReasonNodeDeleted, "")
		} else { // the clock tells it, which must not be asked
			h.phase = leaves
			m.Lease = noLease{}
			t.Lost(m, h.id, messages.ReasonLeaseOver)
		}
	case "revoke":
		w.revokes--
		h.revoked = true
		t.Hear(m, h.id, &messages.RevokeRequested{})
	case "gone":
		h.phase = none
		t.Ended(m, h.id, messages.ReasonReleased, "")
	case "other comes":
		w.others--
		w.order = append(w.order, -1)
		return nil
	case "other leaves":
		w.order = w.order[1:]
		return nil
	case "lapse":
		w.lapses--
		w.term++
		return nil
	case "tick":
		w.ticks--
		w.pass(tick)
	}
	return w.follow()
}

// end has a call give back.
func (w *world) end(i int) {
	c := &w.calls[i]
	c.phase = over
	h := &w.holds[c.hold]
	if h.users--; h.users == 0 {
		h.sure, h.kept = w.at, w.at
	}
}

func (w *world) leave(slot int) {
	w.order = slices.DeleteFunc(w.order, func(o int) bool { return o == slot })
}

func (w *world) below(h *whold) *messages.Held {
	places := messages.MaxPlace
	if w.placeless {
		places = 0
	}
	return &messages.Held{Grant: messages.Grant{Token: messages.Token(h.zxid << 10)}, Places: places, Epoch: 1, Term: w.term}
}

// pass lets time pass, and fires the timers that are due.
func (w *world) pass(d time.Duration) {
	w.at += d
	m := Moment{At: w.at, Lease: w}
	for s := range w.holds {
		h := &w.holds[s]
		if h.phase == granted && h.grants > 0 && h.watch != unfired {
			h.ran += d
		}
		if h.due > 0 && h.due <= w.at {
			h.due = 0
			w.turns.HoldTimer(m, h.id)
		}
	}
	for i := range w.calls {
		if c := &w.calls[i]; c.due > 0 && c.due <= w.at {
			c.due = 0
			w.turns.CallTimer(m, c.id)
		}
	}
}

// callOf gives the number of a call. The newest may not know its own ID yet.
func (w *world) callOf(id CallID) int {
	for i := range w.calls {
		if w.calls[i].id == id && w.calls[i].phase != toCome {
			return i
		}
	}
	return -1
}

// follow carries out what the machine wants, and checks the state behind it.
func (w *world) follow() error {
	for _, o := range w.turns.Take() {
		if err := w.carryOut(o); err != nil {
			return err
		}
	}
	if err := w.turns.check(); err != nil {
		return err
	}
	return w.check()
}

func (w *world) carryOut(o Output) error {
	s := int(uint32(o.Hold))
	for s >= len(w.holds) {
		w.holds = append(w.holds, whold{beside: -1})
	}
	h := &w.holds[s]
	switch i := w.callOf(o.Call); o.Do {
	case Grant:
		if i < 0 || w.calls[i].phase != inLine {
			return fmt.Errorf("call %d does not wait, and is granted", i)
		}
		return w.granted(i, s, o.Token)
	case Refuse:
		if i < 0 || w.calls[i].phase != inLine {
			return fmt.Errorf("call %d does not wait, and is refused", i)
		}
		w.calls[i].phase = over
	case Tell:
		if o.State == messages.StateReleased {
			w.end(i)
		}
	case Ask:
		w.zxid++
		*h = whold{id: o.Hold, phase: queued, want: w.want(i), beside: -1, zxid: w.zxid}
		at := len(w.order)
		if o.Beside != 0 {
			h.beside = int(uint32(o.Beside))
			h.zxid = w.holds[h.beside].zxid // it has the writer's token
			if at = slices.Index(w.order, h.beside) + 1; at == 0 {
				at = len(w.order)
			}
		}
		w.order = slices.Insert(w.order, at, s)
	case Cancel, Release:
		if h.id != o.Hold || (o.Do == Cancel) != (h.phase == queued) || h.users > 0 {
			return fmt.Errorf("hold %d is given back, in phase %d", s, h.phase)
		}
		if h.txns > 0 && !h.revoked {
			return fmt.Errorf("hold %d is given back during a transaction", s)
		}
		h.crossing = h.phase == queued && w.canHold(s)
		h.phase = leaves
		w.leave(s)
	case Check:
		h.checks = true
	case WatchContention:
		h.watch = unfired
	case SetTimer:
		if o.Hold != 0 {
			h.due = o.Deadline
		} else if i >= 0 {
			w.calls[i].due = o.Deadline
		}
	}
	return nil
}

// owner gives the first call of those that a call is within.
func (w *world) owner(i int) int {
	for w.within(i) >= 0 {
		i = w.within(i)
	}
	return i
}

// granted checks that a call may have a hold.
func (w *world) granted(i, s int, token messages.Token) error {
	c, h, want := &w.calls[i], &w.holds[s], w.want(i)
	shares := false
	for j := range w.calls {
		if o := &w.calls[j]; j != i && o.phase == has && o.hold == s && w.owner(j) == w.owner(i) {
			shares = true
		}
	}
	for j := range w.calls {
		if o := &w.calls[j]; o.phase == inLine && o.seq < c.seq && !shares {
			switch {
			case !want.Alone && w.turns.call(o.id) != nil && w.turns.call(o.id).line == h.line(w) && w.want(j).Priority >= want.Priority:
				return fmt.Errorf("call %d is granted before call %d", i, j)
			case want.Mode == messages.Read && w.want(j).Mode != messages.Read && h.users > 0 && h.seq < c.seq:
				return fmt.Errorf("call %d is let in, and call %d waits", i, j)
			}
		}
	}
	serves := max(1, want.Cohort)
	if want.Alone {
		serves = 1
	}
	var wrong string
	switch {
	case h.phase != granted || int(uint32(h.id)) != s:
		wrong = "is not held"
	case h.suspended:
		wrong = "is suspended"
	case h.term != w.term:
		wrong = "rests on a lease that is over"
	case shares:
	case !alike(want, h.want):
		wrong = "is for another wish"
	case h.revoked:
		wrong = "has been asked for"
	case h.txns > 0:
		wrong = "has a transaction under way"
	case h.unfenced:
		wrong = "has a transaction that could not be fenced"
	case h.grants > 0 && (!h.watched || w.unreadable):
		wrong = "is not watched"
	case h.grants > 0 && h.users == 0 && w.at-h.sure >= timeout/6:
		wrong = "was not checked"
	case h.grants > 0 && h.watch != unfired && h.counted >= serves:
		wrong = "has no grant left"
	case h.grants > 0 && h.watch != unfired && serves > 1 && h.ran >= timeout/20:
		wrong = "has no time left"
	case h.grants > 0 && w.placeless && want.Mode != messages.Read:
		wrong = "has no place left"
	case want.Mode != messages.Read && token <= w.top[0], token < w.top[1]:
		wrong = "has a token that is not greater"
	}
	if wrong != "" {
		return fmt.Errorf("call %d is granted hold %d, which %s", i, s, wrong)
	}
	if !shares {
		if w.top[0] = max(w.top[0], token); want.Mode != messages.Read {
			w.top[1] = token
		}
		h.grants++
		if h.watch != unfired {
			h.counted++
		}
	}
	h.users++
	c.phase, c.hold = has, s
	return nil
}

// waiting gives the number of calls that wait in the line of a hold.
func (w *world) waiting(h *whold) (n int) {
	for i := range w.calls {
		if c := w.turns.call(w.calls[i].id); w.calls[i].phase == inLine && c != nil && c.phase == waits && c.line == h.line(w) {
			n++
		}
	}
	return n
}

// line gives the line of a hold in the machine.
func (h *whold) line(w *world) *line { return w.turns.holds[int(uint32(h.id))].line }

// check checks what is so at any time.
func (w *world) check() error {
	for i := range w.calls {
		for j := range i {
			a, b := &w.calls[i], &w.calls[j]
			if a.phase == has && b.phase == has && w.owner(i) != w.owner(j) &&
				(w.want(i).Mode != messages.Read || w.want(j).Mode != messages.Read) {
				return fmt.Errorf("mutual exclusion: calls %d and %d hold", j, i)
			}
		}
	}
	all := 0
	for i := range w.calls {
		if c := w.turns.call(w.calls[i].id); w.calls[i].phase == inLine && c != nil && c.phase == waits {
			all++
		}
	}
	covered := map[*line]int{} // by the holds that wait
	for _, o := range w.order {
		if o < 0 || w.holds[o].phase != queued {
			continue
		}
		h := &w.holds[o]
		l, serves := h.line(w), max(1, h.want.Cohort)
		if h.want.Try {
			serves = 1
		}
		if covered[l] += serves; covered[l]-serves >= w.waiting(h) {
			return fmt.Errorf("hold %d waits for nobody", o)
		}
	}
	for s := range w.holds {
		h := &w.holds[s]
		switch h.phase {
		case granted:
			if h.users > 0 || h.txns > 0 || w.waiting(h) > 0 {
				continue
			}
			if h.want.Sticky == 0 || h.want.Alone || h.watch == fired || h.revoked || h.unfenced || w.placeless && h.grants > 0 || w.unreadable && h.watched ||
				all > 0 || w.at-h.kept >= h.want.Sticky || w.turns.kept > w.turns.bounds.Kept {
				return fmt.Errorf("hold %d is kept, and may not be", s)
			}
		}
	}
	return nil
}

// rest checks that nothing is forgotten in a world that has come to rest: only kept holds are left,
// and go with time.
func (w *world) rest() error {
	for i := range w.calls {
		if w.calls[i].phase == inLine || w.calls[i].phase == has {
			return fmt.Errorf("call %d is forgotten", i)
		}
	}
	w.pass(time.Hour)
	err := w.follow()
	for s := range w.holds {
		if h := &w.holds[s]; err == nil && h.phase == leaves {
			err = w.do(move{"gone", s})
		}
	}
	if err == nil && len(w.turns.queues) > 0 {
		err = errors.New("a queue is left")
	}
	return err
}

// node is a state of a walk.
type node struct {
	w    *world
	from *node
	by   move
	calm *node // where it goes by itself; nil in a quiet state
	seen bool
}

// story tells how a state was reached.
func (n *node) story(err error) error {
	var lines []string
	for ; n.from != nil; n = n.from {
		lines = append(lines, fmt.Sprintf("%s %d", n.by.what, n.by.of))
	}
	slices.Reverse(lines)
	return fmt.Errorf("%w\n%s", err, strings.Join(lines, "\n"))
}

// walk plays every order of moves. From each state the first move of a calm world leads to another
// one; where there is none, the world has come to rest.
func walk(p *plan) (states int, err error) {
	seed := maphash.MakeSeed()
	nodes := map[uint64]*node{}
	next := []*node{{w: newWorld(p)}}
	var buffer []byte
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		calm := n.w.moves(true)
		for _, mv := range n.w.moves(false) {
			made := &node{w: n.w.clone(), from: n, by: mv}
			if err := made.w.do(mv); err != nil {
				return states, made.story(err)
			}
			buffer = made.w.print(buffer[:0])
			key := maphash.Bytes(seed, buffer)
			known := nodes[key]
			if known == nil {
				if states++; states > 200_000 {
					return states, errors.New("too many states")
				}
				known, nodes[key] = made, made
				next = append(next, made)
			}
			if len(calm) > 0 && mv == calm[0] {
				n.calm = known
			}
		}
		if len(calm) == 0 {
			if err := n.w.rest(); err != nil {
				return states, n.story(err)
			}
		}
		n.w = nil
	}
	for _, n := range nodes {
		for at, steps := n, 0; at != nil && !at.seen; at, steps = at.calm, steps+1 {
			if steps > len(nodes) {
				return states, n.story(errors.New("it does not come to rest"))
			}
			if at.calm == nil || at.calm.seen {
				for ; n != at; n = n.calm {
					n.seen = true
				}
				at.seen = true
				break
			}
		}
	}
	return states, nil
}

var plans = []plan{
	{name: "default", calls: []string{"", "", ""}, budget: budget{withdraws: 1, refusals: 1, deletes: 1}},
	{name: "held behind", calls: []string{"", ""}, budget: budget{deletes: 1, cuts: 1, lapses: 1, revokes: 1}},
	{name: "cohort", calls: []string{"cohort=2", "cohort=2", "cohort=2", "cohort=2"}, budget: budget{withdraws: 1}},
	{name: "cohort in time", calls: []string{"cohort=3", "cohort=3", "cohort=3"}, budget: budget{ticks: 1, revokes: 1}},
	{name: "cohort and faults", calls: []string{"cohort=3", "cohort=3"}, budget: budget{lapses: 1, cuts: 1, refusals: 1, deletes: 1}},
	{name: "sticky", calls: []string{"sticky=9s", "sticky=9s"}, budget: budget{ticks: 3, others: 1, withdraws: 1}},
	{name: "sticky and rest", calls: []string{"sticky=16s", "sticky=16s"}, budget: budget{ticks: 2, cuts: 1}},
	{name: "sticky and faults", calls: []string{"sticky=16s", "sticky=16s"}, budget: budget{cuts: 1, revokes: 1, lapses: 1}},
	{name: "sticky cohort", calls: []string{"sticky=16s cohort=2", "sticky=16s cohort=2", "sticky=16s cohort=2"}, budget: budget{ticks: 1, others: 1}},
	{name: "two wishes", calls: []string{"sticky=16s cohort=2", "label=x", "sticky=16s cohort=2"}, budget: budget{withdraws: 1, deletes: 1}},
	{name: "readers", calls: []string{"read cohort=2", "read cohort=2", "write", "read cohort=2"}, budget: budget{withdraws: 1}},
	{name: "readers in time", calls: []string{"read cohort=3", "read cohort=3", "write"}, budget: budget{ticks: 1, cuts: 1}},
	{name: "plain readers", calls: []string{"read", "write", "read"}, budget: budget{withdraws: 1, deletes: 1}},
	{name: "transactions", calls: []string{"cohort=3", "cohort=3"}, budget: budget{txns: 2, unfenced: 1, revokes: 1}},
	{name: "sticky transactions", calls: []string{"sticky=16s", "sticky=16s"}, budget: budget{txns: 1, unfenced: 1, ticks: 1}},
	{name: "grace", calls: []string{"cohort=3 grace=4s", "cohort=3 grace=4s"}, budget: budget{revokes: 1, ticks: 2, txns: 1}},
	{name: "unreadable", calls: []string{"sticky=16s cohort=3", "sticky=16s cohort=3"}, unreadable: true},
	{name: "placeless", calls: []string{"sticky=16s cohort=3", "sticky=16s cohort=3", "read cohort=3", "read cohort=3"}, placeless: true},
	{name: "two wait", calls: []string{"", "", "", "priority=1"}, bounds: Bounds{Waiting: 2, Kept: 9}, budget: budget{withdraws: 1}},
	{name: "alone", calls: []string{"alone", "alone cohort=3 sticky=5s", "alone cohort=3 sticky=5s"}, budget: budget{withdraws: 1}},
	{name: "reentry", calls: []string{"reentry", "reentry within=0", "reentry", "reentry within=1"}, budget: budget{cuts: 1, revokes: 1}},
	{name: "downgrade", calls: []string{"write", "read reentry within=0", "read reentry within=1", "write"}, budget: budget{deletes: 1}},
	{name: "downgrade twice", calls: []string{"write", "read reentry within=0", "read reentry within=0"}, budget: budget{refusals: 1, cuts: 1}},
	{name: "bounded", calls: []string{"cohort=2 max=2", "cohort=2 max=3", "cohort=2 max=3"}, bounded: true, budget: budget{withdraws: 1, others: 1}},
	{name: "try", calls: []string{"try sticky=16s", "sticky=16s", "try sticky=16s"}, budget: budget{others: 1}},
}

// TestWalk: every order of inputs keeps the rules.
func TestWalk(t *testing.T) {
	for i := range plans {
		t.Run(plans[i].name, func(t *testing.T) {
			states, err := walk(&plans[i])
			t.Logf("%d states", states)
			require.NoError(t, err)
		})
	}
}
