package machine

import (
	"github.com/turnstile-locks/turnstile/messages"
)

// Deadlocks are found by taking away, from all that wait, whoever may yet get in, until nobody is left that may:
//
//   - one that waits for a lock may get in when nobody before it, for whom it has to wait, is stuck;
//   - one that waits for permits may get in when what the stuck ones before it never give back leaves enough for
//     it. So it is stuck when too many of the holders are, and not because one is;
//   - a contender is stuck when it waits and never gets in, and also when whoever asked for it stands still for
//     another request that never gets in: then it is never given back.
//
// Whose owner is not known is believed to go on: other libraries' nodes do not say who stands still for them. What
// is left over waits for ever, unless somebody gives up, and in it there are circles.

// Queues are the contenders of one lock path, each queue of it in order, and a semaphore's number of permits.
type Queues struct {
	Permits    int
	Contenders []messages.Contender
}

// line is one queue.
type line struct {
	permits int
	all     []*waiter
}

// waiter is one contender, whether it waits or holds.
type waiter struct {
	messages.Contender
	line   *line
	weight int
	stuck  bool   // it waits, and never gets in
	next   []link // by what it is kept out
	wanted bool   // it keeps others out
}

// link leads from a request to another that it waits for, and to the node that keeps it out: the other's own, or
// one of the same owner.
type link struct {
	keeps, waits *waiter
}

// standstill is the search for deadlocks.
type standstill struct {
	lines   []*line
	waiting map[string][]*waiter // by who stands still
}

// Deadlocks finds the circles of those who wait for each other: for each member the shortest, and each once. A
// circle that would be one without some of its members is left out in favour of the smaller one.
func Deadlocks(locks []Queues) []messages.Deadlock {
	s := standstill{waiting: map[string][]*waiter{}}
	for _, l := range locks {
		s.add(l)
	}
	for s.reduce() {
	}
	for _, l := range s.lines {
		s.connect(l)
	}
	return s.circles()
}

// add takes the queues of a lock path into the search.
func (s *standstill) add(l Queues) {
	var current *line
	for i, c := range l.Contenders {
		if i == 0 || c.Name != l.Contenders[i-1].Name {
			current = &line{permits: l.Permits}
			s.lines = append(s.lines, current)
		}
		w := &waiter{Contender: c, line: current, stuck: !c.Holds}
		w.weight = Entry{Style: Style{Mode: c.Mode, Weight: c.Weight}}.weight(l.Permits)
		current.all = append(current.all, w)
		if w.stuck && w.Who != "" {
			s.waiting[w.Who] = append(s.waiting[w.Who], w)
		}
	}
}

// reduce takes away who may get in; false when nobody did.
func (s *standstill) reduce() (changed bool) {
	for _, l := range s.lines {
		jam := jam{line: l}
		for i, w := range l.all {
			jam.advance(l.all[:i], w.Sequence, func(b *waiter) bool { return b.stuck || s.frozen(b) })
			if w.stuck && !jam.stops(w) {
				w.stuck, changed = false, true
			}
		}
	}
	return changed
}

// frozen tells whether whoever asked for a contender stands still for another request that never gets in.
func (s *standstill) frozen(w *waiter) bool {
	for _, other := range s.waiting[w.Who] {
		if other != w && other.stuck {
			return true
		}
	}
	return false
}

// jam is who is stuck in a queue before some place in it.
type jam struct {
	line    *line
	passed  int
	taken   int       // permits that are never given back
	all     []*waiter // who is stuck
	writers []*waiter // those of them that readers wait for
}

// advance takes in those whose number is below that of the one at hand.
func (j *jam) advance(before []*waiter, sequence int32, stuck func(*waiter) bool) {
	for ; j.passed < len(before) && before[j.passed].Sequence < sequence; j.passed++ {
		b := before[j.passed]
		if !stuck(b) {
			continue
		}
		j.taken += b.weight
		j.all = append(j.all, b)
		if b.Mode != messages.Read {
			j.writers = append(j.writers, b)
		}
	}
}

// stops tells whether a contender never gets past those who are stuck.
func (j *jam) stops(w *waiter) bool {
	switch {
	case w.Mode == messages.Semaphore:
		return len(j.all) > 0 && j.taken+w.weight > j.line.permits
	case w.Mode == messages.Read:
		return len(j.writers) > 0
	}
	return len(j.all) > 0
}

// those are the ones who stop a contender.
func (j *jam) those(w *waiter) []*waiter {
	if w.Mode == messages.Read {
		return j.writers
	}
	return j.all
}

// connect links the stuck requests of a queue to those they wait for. Where a contender is stopped already by
// those whose owners stand still elsewhere, who merely waits before it in the queue is no part of it: it would
// be stuck without that one too.
func (s *standstill) connect(l *line) {
	frozen, queued := jam{line: l}, jam{line: l}
	for i, w := range l.all {
		frozen.advance(l.all[:i], w.Sequence, s.frozen)
		queued.advance(l.all[:i], w.Sequence, func(b *waiter) bool { return b.stuck && !s.frozen(b) })
		if !w.stuck {
			continue
		}
		for _, b := range frozen.those(w) {
			for _, other := range s.waiting[b.Who] {
				if other != b && other.stuck {
					w.follow(link{keeps: b, waits: other})
				}
			}
		}
		if !frozen.stops(w) {
			s.queue(w, frozen, queued.those(w))
		}
	}
}

// queue links a request to as many of those that merely wait before it as it takes to keep it out, together with
// the permits that are never given back.
func (s *standstill) queue(w *waiter, frozen jam, queued []*waiter) {
	for _, b := range queued {
		w.follow(link{keeps: b, waits: b})
		frozen.taken += b.weight
		if w.Mode != messages.Semaphore || frozen.taken+w.weight > w.line.permits {
			return
		}
	}
}

func (w *waiter) follow(l link) {
	w.next = append(w.next, l)
	l.waits.wanted = true
}
