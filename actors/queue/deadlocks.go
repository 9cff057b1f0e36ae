package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// The search finds the waiters that never get in: they are stuck. An owner is blocked while it waits
// for another request that is stuck. Then it gives nothing back. The search begins with all waiters,
// and takes away each waiter that may yet get in, until no more can:
//
//   - a waiter for a lock may get in when no earlier contender that it waits for is stuck, or has an
//     owner that is blocked;
//   - a waiter for permits may get in when enough permits remain beside those of such contenders
//     before it. So it is stuck when too many of the holders never give back, and not because one
//     does not.
//
// An owner that is not known is believed not to be blocked: nodes of other libraries do not name
// theirs. The waiters that are left wait for ever, unless one of them gives up, and among them there
// are circles.

// LockPath is a lock path as it was read: its contenders, each queue in order, and a semaphore's
// number of permits.
type LockPath struct {
	Permits    int
	Contenders []messages.Contender
	// Waiting has the requests that wait without nodes behind the node of one of the contenders, by its
	// name and in their order: they are the first to have it.
	Waiting map[string][]messages.Contender
}

// contested is one queue, in order, or the requests that wait without nodes behind one node of a
// queue. Those keep nobody else in the queue out: it is not known whether they get in before the
// contenders behind that node.
type contested struct {
	permits int
	of      *contested // the queue that the node is part of; nil for a queue
	head    *waiter    // the node
	all     []*waiter
}

// deadlockSearch is one search for deadlocks.
type deadlockSearch struct {
	queues  []*contested
	waiting map[string][]*waiter // the waiters of each owner, by its name
	holders bool                 // an owner is blocked only for the locks that it holds
}

// Deadlocks finds the circles of contenders that wait for each other: for each member the shortest,
// and each once. A circle that would be one without some of its members is left out in favour of
// the smaller one.
func Deadlocks(locks []LockPath) []messages.Deadlock {
	return (&deadlockSearch{waiting: map[string][]*waiter{}}).search(locks)
}

func (s *deadlockSearch) search(locks []LockPath) []messages.Deadlock {
	for _, l := range locks {
		s.add(l)
	}
	for s.reduce() {
	}
	for _, l := range s.queues {
		s.connect(l)
	}
	return circles(s.oldestFirst())
}

// add takes the queues of a lock path into the search.
func (s *deadlockSearch) add(l LockPath) {
	var current *contested
	for i, c := range l.Contenders {
		if i == 0 || c.Name != l.Contenders[i-1].Name {
			current = &contested{permits: l.Permits}
			s.queues = append(s.queues, current)
		}
		w := s.take(c, int(c.Sequence))
		current.all = append(current.all, w)
		if behind := l.Waiting[c.Node]; len(behind) > 0 {
			cohort := &contested{permits: l.Permits, of: current, head: w}
			s.queues = append(s.queues, cohort)
			for i, c := range behind {
				cohort.all = append(cohort.all, s.take(c, i))
			}
		}
	}
}

// take takes one contender into the search.
func (s *deadlockSearch) take(c messages.Contender, index int) *waiter {
	if c.Asked {
		c.Who = "" // it is believed to give its locks back
	}
	w := &waiter{Contender: c, style: Style{Mode: c.Mode, Weight: c.Weight}, index: index, stuck: !c.Holds}
	if w.stuck && w.Who != "" {
		s.waiting[w.Who] = append(s.waiting[w.Who], w)
	}
	return w
}

// reduce takes away the contenders that may get in; false when there were none.
func (s *deadlockSearch) reduce() (changed bool) {
	for _, l := range s.queues {
		never := l.jam(func(b *waiter) bool { return b.stuck || s.ownerBlocked(b) })
		for _, w := range l.all {
			never.advance(w)
			if w.stuck && !never.stops(w) {
				w.stuck, changed = false, true
			}
		}
	}
	return changed
}

// ownerBlocked reports whether a contender's owner waits for another request that is stuck.
func (s *deadlockSearch) ownerBlocked(w *waiter) bool {
	if s.holders && !w.Holds {
		return false
	}
	for _, other := range s.waiting[w.Who] {
		if other != w && other.stuck {
			return true
		}
	}
	return false
}

// jam holds the contenders before an index in a queue that never leave, for one of two reasons: they are stuck, or
// their owners are blocked.
type jam struct {
	earlier[*waiter]
	queue []*waiter
	stuck func(*waiter) bool
}

func (l *contested) jam(stuck func(*waiter) bool) *jam {
	j := &jam{earlier: earlier[*waiter]{permits: l.permits}, queue: l.all, stuck: stuck}
	if l.of != nil {
		for _, b := range l.of.all {
			if b.index <= l.head.index && stuck(b) {
				j.add(b, b.style)
			}
		}
	}
	return j
}

// advance goes on to the index of a contender.
func (j *jam) advance(to *waiter) {
	for ; j.queue[0].index < to.index; j.queue = j.queue[1:] {
		if b := j.queue[0]; j.stuck(b) {
			j.add(b, b.style)
		}
	}
}

// stops reports whether a contender never gets past the jam.
func (j *jam) stops(w *waiter) bool {
	by, out := j.keepOut(w.style)
	return out && len(by) > 0
}

// connect links each stuck request of a queue to the requests that it waits for. Where contenders
// whose owners are blocked elsewhere stop a request already, contenders that merely wait before it
// are left out: it would be stuck without them.
func (s *deadlockSearch) connect(l *contested) {
	blocked := l.jam(s.ownerBlocked)
	queued := l.jam(func(b *waiter) bool { return b.stuck && !s.ownerBlocked(b) })
	for _, w := range l.all {
		blocked.advance(w)
		queued.advance(w)
		if !w.stuck {
			continue
		}
		by, _ := blocked.keepOut(w.style)
		for _, b := range by {
			for _, other := range s.waiting[b.Who] {
				if other != b && other.stuck {
					w.follow(link{keeps: b, waits: other})
				}
			}
		}
		if !blocked.stops(w) {
			w.queueBehind(*blocked, queued)
		}
	}
}

// queueBehind links a request to contenders that merely wait before it: to as many as it takes to
// keep it out, together with the permits that are never given back.
func (w *waiter) queueBehind(blocked jam, queued *jam) {
	by, _ := queued.keepOut(w.style)
	for _, b := range by {
		w.follow(link{keeps: b, waits: b})
		if blocked.add(b, b.style); blocked.stops(w) {
			return
		}
	}
}

// oldestFirst gives the requests that may be part of a circle.
func (s *deadlockSearch) oldestFirst() []*waiter {
	var all []*waiter
	for _, l := range s.queues {
		for _, w := range l.all {
			if w.stuck && w.wanted {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b *waiter) int { return messages.Older(a.Contender, b.Contender) })
	return all
}

// waiter is one contender, whether it waits or holds.
type waiter struct {
	messages.Contender
	style  Style
	index  int    // in its line; those at the same index do not come one after the other
	stuck  bool   // it waits, and never gets in
	next   []link // to the contenders that keep it out
	wanted bool   // it keeps others out
}

// link leads from a request to another that it waits for, and to the node that keeps it out: the
// other's own, or one of the same owner.
type link struct {
	keeps, waits *waiter
}

func (w *waiter) follow(l link) {
	w.next = append(w.next, l)
	l.waits.wanted = true
}

// circles finds the circles among requests by their links, in the order of the requests.
func circles(all []*waiter) []messages.Deadlock {
	var found []messages.Deadlock
	seen := map[*waiter]bool{} // part of a circle that was found
	for _, w := range all {
		if seen[w] {
			continue
		}
		circle := shortest(w)
		if circle == nil || hasShortcut(circle) {
			continue
		}
		for _, l := range circle {
			seen[l.waits] = true
		}
		found = append(found, describe(circle))
	}
	return found
}

// shortest gives the links of the shortest way from a request back to itself; nil for none.
func shortest(from *waiter) []link {
	type step struct {
		link
		from *waiter
	}
	came := map[*waiter]step{}
	for queue := []*waiter{from}; len(queue) > 0 && came[from].from == nil; queue = queue[1:] {
		for _, l := range queue[0].next {
			if _, been := came[l.waits]; !been {
				came[l.waits] = step{l, queue[0]}
				queue = append(queue, l.waits)
			}
		}
	}
	var circle []link
	for at := came[from]; at.from != nil; at = came[at.from] {
		circle = append(circle, at.link)
		if at.from == from {
			break
		}
	}
	slices.Reverse(circle)
	return circle
}

// hasShortcut reports whether a circle would be one without some of its members: those are then no
// part of it.
func hasShortcut(circle []link) bool {
	index := map[*waiter]int{}
	for i, l := range circle {
		index[l.waits] = i
	}
	for i, l := range circle {
		for _, other := range l.waits.next {
			if to, member := index[other.waits]; member && to != (i+1)%len(circle) {
				return true
			}
		}
	}
	return false
}

func describe(circle []link) messages.Deadlock {
	var d messages.Deadlock
	for _, l := range circle {
		d.Members = append(d.Members, messages.Member{Who: l.waits.Who, Keeps: l.keeps.Contender, Waits: l.waits.Contender})
	}
	return d.Turn()
}

// PossibleDeadlocks finds the deadlocks that there would be if one waiting request blocked its whole
// process: a process that waits behind a lock that it holds itself, as when it is locked again without
// the context of its lease, and processes that wait for each other's locks. Nodes do not say whether
// the worker that holds is the one that waits. In a process with several workers it need not be.
// The circles of [Deadlocks] are left out, and so is every circle that shares a node with one of them.
//
// It goes by the rules of Deadlocks, with processes in the place of owners. A process that waits for
// several locks, or several times for one, may do so with several workers. So it counts as blocked for
// the locks that it holds, and not for its places in other queues. A process that holds some of a semaphore's
// permits and waits for more of them is no circle: semaphores are for that. Requests that wait in a
// cohort, without nodes, are left out for the same reason. A request that shares a hold does not wait:
// readers, and holds taken WithReentry.
func PossibleDeadlocks(locks []LockPath) []messages.Deadlock {
	part := map[string]bool{}
	for _, d := range Deadlocks(locks) {
		for _, m := range d.Members {
			part[m.Keeps.At()], part[m.Waits.At()] = true, true
		}
	}
	told := map[string]bool{}
	s := &deadlockSearch{waiting: map[string][]*waiter{}, holders: true}
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

// byProcess gives a copy of lock paths in which the owner of a contender is its process.
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

// processOf names the process of a contender: by its session where the node does not say it; "" where it is not
// known whose the node was all the time.
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

// sharesPermits reports whether one process waits for permits of a semaphore of which it has some.
func sharesPermits(d messages.Deadlock) bool {
	first := d.Members[0].Waits
	return !slices.ContainsFunc(d.Members, func(m messages.Member) bool {
		return m.Waits.Mode != messages.Semaphore || m.Waits.Path != first.Path || m.Keeps.Path != first.Path
	})
}
