package queue

import (
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// waiter is one contender, whether it waits or holds.
type waiter struct {
	messages.Contender
	style  Style
	index  int    // in its line; those at the same index do not come one after the other
	stuck  bool   // it waits, and never gets in
	next   []link // what keeps it out
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

// hasShortcut tells whether a circle would be one without some of its members: those are then no
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
