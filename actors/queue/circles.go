package queue

import (
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// circles finds the circles among the stuck requests, by the links between them.
func (s *standstill) circles() []messages.Deadlock {
	var found []messages.Deadlock
	seen := map[*waiter]bool{} // part of a circle that was found
	for _, w := range s.oldestFirst() {
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

// oldestFirst gives the requests that may be part of a circle.
func (s *standstill) oldestFirst() []*waiter {
	var all []*waiter
	for _, l := range s.lines {
		for _, w := range l.all {
			if w.stuck && w.wanted {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b *waiter) int { return messages.Older(a.Contender, b.Contender) })
	return all
}

// shortest gives the links of the shortest way from a request back to itself, nil where there is none.
func shortest(from *waiter) []link {
	came := map[*waiter]*waiter{}
	by := map[*waiter]link{}
	for queue := []*waiter{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, l := range at.next {
			if _, been := by[l.waits]; been {
				continue
			}
			by[l.waits], came[l.waits] = l, at
			if l.waits == from {
				return back(from, came, by)
			}
			queue = append(queue, l.waits)
		}
	}
	return nil
}

// back gives the links that led to a request, in the order in which they were followed.
func back(to *waiter, came map[*waiter]*waiter, by map[*waiter]link) []link {
	circle := []link{by[to]}
	for at := came[to]; at != to; at = came[at] {
		circle = append(circle, by[at])
	}
	slices.Reverse(circle)
	return circle
}

// hasShortcut tells whether a circle would be one without some of its members: those are then no part of it.
func hasShortcut(circle []link) bool {
	place := map[*waiter]int{}
	for i, l := range circle {
		place[l.waits] = i
	}
	for i, l := range circle {
		for _, other := range l.waits.next {
			if to, member := place[other.waits]; member && to != (i+1)%len(circle) {
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
