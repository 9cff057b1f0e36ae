package queue

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// The search finds the waiters that never get in: they are stuck. An owner is blocked while it
// waits for another request that is stuck: it gives nothing back. The search takes away each waiter
// that may yet get in, until no more can:
//
//   - a waiter for a lock may when no earlier contender that it waits for is stuck, or has an owner
//     that is blocked;
//   - a waiter for permits may when enough permits remain beside those of such contenders before
//     it.
//
// A holds /x and waits for /y, B holds /y and waits for /x, and C waits for /x: all three are
// stuck, and A and B are a circle. D holds /z, for which E waits: D waits for nothing, so E may get
// in. An unknown owner is believed not to be blocked: nodes of other libraries do not name theirs.

// LockPath is a lock path as it was read: its contenders, each queue in order, and a semaphore's
// number of permits.
type LockPath struct {
	Permits    int
	Contenders []messages.Contender
	// Waiting has the requests that wait without nodes behind a contender's node, by its name and
	// in their order: they are the first to have it.
	Waiting map[string][]messages.Contender
}

// contested is one queue, in order, or the requests that wait without nodes behind one node. Those
// keep nobody else in the queue out: they may get in after the contenders behind that node.
type contested struct {
	permits int
	all     []*waiter
	of      *contested // the queue that the node is part of; nil for a queue
	head    *waiter    // the node
	cohorts []*contested
	lanes   [2]lane // of its readers, and of all others
	chains  chains  // of those of all that keep others out for ever
}

type waiter struct {
	messages.Contender
	style  Style
	line   *contested
	at     int
	index  int  // its number; those with the same do not wait for each other
	stuck  bool // it waits, and never gets in
	vertex int  // among the links; zero unless stuck
}

type owner struct {
	stuck   int
	waiting []*waiter // its requests that wait, or did when the search began
	blocks  []*waiter
	vertex  int // among the links: it leads to those of waiting that are stuck
}

// lane has waiters in the order in which they can get in: as they came, and for one number the
// least needs first. So each is taken off once.
type lane struct {
	line    *contested
	waiting []*waiter
	before  [2]int // contenders of line.of and of line that are before the first
	never   sum    // those among them that never leave
	due     bool
}

type deadlockSearch struct {
	lines   []*contested
	owners  map[string]*owner
	holders bool            // an owner is blocked only for the locks that it holds
	part    map[string]bool // the nodes of circles that are told already
	due     []*lane
	steps   int // taken; tests bound them
}

// mostCircles bounds the circles told of one knot.
const mostCircles = 64

// Deadlocks finds the circles of contenders that wait for each other: for each member the shortest,
// and each once. A circle gives way to one of some of its members.
//
// Other processes write the names, so the search is bounded: O(n log n) for n contenders. Of
// requests that all wait for each other it tells 1 to 64 circles, the oldest first, with some four
// times as many members as such requests. The rest come up when these have ended.
func Deadlocks(locks []LockPath) []messages.Deadlock { return newSearch().search(locks) }

func newSearch() *deadlockSearch { return &deadlockSearch{owners: map[string]*owner{}} }

func (s *deadlockSearch) search(locks []LockPath) []messages.Deadlock {
	for _, l := range locks {
		s.add(l)
	}
	s.reduce()
	return s.circles(s.connect())
}

func (s *deadlockSearch) add(l LockPath) {
	var current *contested
	for i, c := range l.Contenders {
		if i == 0 || c.Name != l.Contenders[i-1].Name {
			current = s.line(l.Permits)
		}
		w := s.take(current, c, int(c.Sequence))
		if behind := l.Waiting[c.Node]; len(behind) > 0 {
			cohort := s.line(l.Permits)
			cohort.of, cohort.head = current, w
			current.cohorts = append(current.cohorts, cohort)
			for i, c := range behind {
				s.take(cohort, c, i)
			}
		}
	}
}

func (s *deadlockSearch) line(permits int) *contested {
	l := &contested{permits: permits}
	for i := range l.lanes {
		l.lanes[i].line = l
	}
	s.lines = append(s.lines, l)
	return l
}

func (s *deadlockSearch) take(l *contested, c messages.Contender, index int) *waiter {
	if c.Asked {
		c.Who = "" // it is believed to give its locks back
	}
	w := &waiter{Contender: c, style: Style{Mode: c.Mode, Weight: c.Weight}, line: l, at: len(l.all), index: index,
		stuck: !c.Holds}
	l.all = append(l.all, w)
	if w.stuck {
		lane := &l.lanes[w.style.reads()]
		lane.waiting = append(lane.waiting, w)
	}
	if w.Who == "" {
		return w
	}
	o := s.owners[w.Who]
	if o == nil {
		o = &owner{}
		s.owners[w.Who] = o
	}
	if w.stuck {
		o.stuck++
		o.waiting = append(o.waiting, w)
	}
	if !s.holders || w.Holds {
		o.blocks = append(o.blocks, w)
	}
	return w
}

func (s *deadlockSearch) reduce() {
	for _, line := range s.lines {
		for i := range line.lanes {
			l := &line.lanes[i]
			slices.SortStableFunc(l.waiting, func(a, b *waiter) int {
				return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.style.need(), b.style.need()))
			})
			s.look(l)
		}
	}
	for len(s.due) > 0 {
		l := s.due[len(s.due)-1]
		s.due, l.due = s.due[:len(s.due)-1], false
		for len(l.waiting) > 0 && !s.stops(l, l.waiting[0]) {
			w := l.waiting[0]
			l.waiting = l.waiting[1:]
			s.getsIn(w)
		}
	}
}

// need orders contenders with one number by what they need. An exclusive one needs all to be gone.
func (s Style) need() int {
	if s.Mode == messages.Semaphore {
		return s.Weight
	}
	return math.MaxInt
}

func (s *deadlockSearch) look(l *lane) {
	if !l.due {
		l.due = true
		s.due = append(s.due, l)
	}
}

func (s *deadlockSearch) stops(l *lane, w *waiter) bool {
	for side, before := range w.sides() {
		for ; l.before[side] < len(before.line.all); l.before[side]++ {
			b := before.line.all[l.before[side]]
			if b.index >= before.index {
				break
			}
			s.steps++
			if b.stuck || s.ownerBlocked(b) {
				l.never.add(b.style, 1, l.line.permits)
			}
		}
	}
	return l.never.stops(w)
}

type side struct {
	line  *contested
	index int
}

// sides gives where the contenders before a waiter are: in its own line and, if it has no node, up
// to the node behind which it waits.
func (w *waiter) sides() [2]side {
	own := side{w.line, w.index}
	if of := w.line.of; of != nil {
		return [2]side{{of, w.line.head.index + 1}, own}
	}
	return [2]side{{w.line, math.MinInt}, own}
}

func (b sum) stops(w *waiter) bool {
	by, out := b.keepOut(w.style, w.line.permits)
	return out && by > 0
}

func (s *deadlockSearch) getsIn(w *waiter) {
	w.stuck = false
	if w.Who == "" || s.holders {
		s.leaves(w)
	}
	if w.Who == "" {
		return
	}
	o := s.owners[w.Who]
	if o.stuck--; o.stuck == 0 {
		for _, b := range o.blocks {
			s.leaves(b)
		}
	}
}

func (s *deadlockSearch) leaves(b *waiter) {
	for _, cohort := range b.line.cohorts {
		s.subtract(b, cohort, 0)
	}
	s.subtract(b, b.line, 1)
}

// subtract takes a contender off those that keep a line out, where it is on one side of its
// waiters.
func (s *deadlockSearch) subtract(b *waiter, line *contested, side int) {
	for i := range line.lanes {
		s.steps++
		if l := &line.lanes[i]; b.at < l.before[side] {
			l.never.add(b.style, -1, line.permits)
			s.look(l)
		}
	}
}

func (s *deadlockSearch) ownerBlocked(w *waiter) bool {
	o := s.owners[w.Who]
	switch {
	case o == nil || s.holders && !w.Holds:
		return false
	case w.stuck:
		return o.stuck > 1
	}
	return o.stuck > 0
}

// PossibleDeadlocks finds the deadlocks that there would be if a waiting request blocked its whole
// process: one that waits behind its own lock, without the context of its lease, and several that
// wait for each other's locks. With several workers, who holds need not be who waits. Circles that
// share a node with one of [Deadlocks] are left out.
//
// It goes by the rules of Deadlocks, with processes in the place of owners. A process may wait with
// several workers, so it counts as blocked for the locks that it holds, and not for its places in
// other queues. For the same reason a process that holds permits of a semaphore and waits for more
// is no circle, and requests that wait in a cohort, without nodes, are left out. A request that
// shares a hold (readers, and WithReentry) does not wait.
func PossibleDeadlocks(locks []LockPath) []messages.Deadlock {
	part := map[string]bool{}
	for _, d := range Deadlocks(locks) {
		for _, m := range d.Members {
			part[m.Keeps.At()], part[m.Waits.At()] = true, true
		}
	}
	told := map[string]bool{}
	s := newSearch()
	s.holders, s.part = true, part
	return slices.DeleteFunc(s.search(byProcess(locks)), func(d messages.Deadlock) bool {
		var members []string
		for _, m := range d.Members {
			members = append(members, fmt.Sprintln(m.Who, m.Keeps.At(), m.Waits.Path, m.Waits.Name))
			if part[m.Keeps.At()] || part[m.Waits.At()] {
				return true
			}
		}
		slices.Sort(members)
		circle := strings.Join(members, "")
		known := told[circle] // of several waiters of one process for one lock, the oldest is named
		told[circle] = true
		return known || sharesPermits(d)
	})
}

func byProcess(locks []LockPath) []LockPath {
	all := slices.Clone(locks)
	for i := range all {
		all[i].Waiting = nil
		all[i].Contenders = slices.Clone(all[i].Contenders)
		for at := range all[i].Contenders {
			c := &all[i].Contenders[at]
			c.Who = processOf(*c)
		}
	}
	return all
}

// processOf names a contender's process, or else its session; "" where the node may have had
// several owners.
func processOf(c messages.Contender) string {
	switch {
	case c.Host != "" && c.Who == "":
		return ""
	case c.Host == "" && c.Session == 0: // it may not be read
		return ""
	case c.Host != "":
		return fmt.Sprintf("process %d on %s", c.PID, c.Host)
	}
	return fmt.Sprintf("session 0x%x", c.Session)
}

func sharesPermits(d messages.Deadlock) bool {
	first := d.Members[0].Waits
	return !slices.ContainsFunc(d.Members, func(m messages.Member) bool {
		return m.Waits.Mode != messages.Semaphore || m.Waits.Path != first.Path || m.Keeps.Path != first.Path
	})
}
