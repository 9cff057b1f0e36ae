package main

import "slices"

// Nothing may grow. At each quiet point all requests have ended, and every client process counts what it has: live heap
// objects after a collection, goroutines, actors. The first look at a process is left out: its pools and tables have no
// size yet. Each later look is compared with the one before. By chance about as many figures rise as fall, and a leak
// makes nearly all of them rise. So a figure grows when the median of its differences is above a bound: there are a
// hundred in an hour, and three at least.

const (
	restObjects    = "heap objects of a client"
	restGoroutines = "goroutines of a client"
	restActors     = "actors of a client"
	polls          = "polls" // is no such figure

	// restLeast is how many differences there must be for a judgement.
	restLeast = 3
)

// restMost are the bounds on the medians. Timers and tables of a process come and go by some dozens of objects between two
// looks. A timer of each heartbeat that is kept makes a thousand in half a minute.
var restMost = map[string]int{restObjects: 300, restGoroutines: 1, restActors: 0}

// growth has what was seen at rest.
type growth struct {
	last        map[holder]map[string]int // of each process; empty after its first look
	differences map[string][]int
}

// rested takes what a process has at rest.
func (j *judge) rested(of holder, now map[string]int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	g := &j.growth
	if g.last == nil {
		*g = growth{map[holder]map[string]int{}, map[string][]int{}}
	}
	last, known := g.last[of]
	if !known {
		now = nil
	}
	for name, n := range last {
		g.differences[name] = append(g.differences[name], now[name]-n)
	}
	g.last[of] = now
}

// judgeGrowth finds the figures that grow.
func (j *judge) judgeGrowth() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, most := range restMost {
		all := slices.Sorted(slices.Values(j.growth.differences[name]))
		if len(all) < restLeast {
			continue
		}
		if median := all[(len(all)-1)/2]; median > most {
			j.violation(grows, "%s grow by %d from look to look, the median of %d", name, median, len(all))
		}
	}
}
