package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Nothing may grow. At each quiet point all requests have ended, and every client process of Turnstile counts what it
// has: live heap objects after a collection, goroutines, actors. The controller adds its connections. The first look at a
// process is left out: its pools and tables have no size yet. Each later look is compared with the one before. By chance
// about as many figures rise as fall, and a leak makes nearly all of them rise. So a figure grows when the median of its
// differences is above a bound: there are a hundred in an hour, and three at least.

// rest is what a process has at rest, by the names in restFigures.
type rest map[string]int

// restFigures are the figures in the order in which people read them, with the bounds on their medians. Timers and tables
// of a process come and go by some dozens of objects between two looks. A timer of each heartbeat that is kept makes a
// thousand in half a minute.
var restFigures = []struct {
	name string
	most int
}{
	{restObjects, 300}, {restGoroutines, 1}, {restActors, 0}, {restConnections, 0},
}

const (
	restObjects     = "heap objects of a client"
	restGoroutines  = "goroutines of a client"
	restActors      = "actors of a client"
	restConnections = "connections of a client"

	// restLeast is how many differences there must be for a judgement.
	restLeast = 3
	// restBound is for how long a process may count.
	restBound = 30 * time.Second
)

// atRest is what a figure was at rest: the most of it, and the median of its differences from look to look.
type atRest struct {
	Most   int `json:"most"`
	Median int `json:"median_difference"`
	Looks  int `json:"differences"`
}

// count counts what this process has, but for the lines of its log, which are the soak's.
func (t *turnstile) count(log *loglines) rest {
	runtime.GC()
	runtime.GC() // the first leaves what was in pools
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	actors := 0
	for _, bucket := range t.client.System().ProcessRegistry.LocalPIDs.LocalPIDs {
		actors += bucket.Count()
	}
	return rest{restObjects: int(heap.HeapObjects) - log.count(), restGoroutines: runtime.NumGoroutine(), restActors: actors}
}

// look has all processes count, and looks at the servers.
func (s *stage) look() {
	if s.o.peer != peerTurnstile {
		return
	}
	for _, client := range s.subjects {
		if r, err := client.count(restBound); err != nil {
			s.say("%v", err)
		} else {
			s.judge.rested(r.From, r.Rest)
		}
	}
	s.awaitNoWatch()
}

// awaitNoWatch finds watches that stay at the servers. How many there are when requests end says nothing: a client leaves
// them for up to two session timeouts, of those that servers allow. Then there is none.
func (s *stage) awaitNoWatch() {
	ctx, cancel := context.WithTimeout(context.Background(), 4*s.o.session+2*restBound)
	defer cancel()
	for end := time.Now().Add(4*s.o.session + restBound); ; time.Sleep(time.Second / 10) {
		left := 0
		for _, member := range s.ensemble.Members() {
			n, err := member.Address().Watches(ctx)
			if err != nil {
				return // it is down, or has just come back
			}
			left += n
		}
		switch {
		case left == 0:
			return
		case time.Now().After(end):
			s.accuse(grows, "%d watches stay at the servers", left)
			return
		}
	}
}

// count has the process count what it has.
func (s *subject) count(within time.Duration) (report, error) {
	select {
	case <-s.counted: // of an earlier time
	default:
	}
	if err := s.command(doRest); err != nil {
		return report{}, err
	}
	select {
	case r := <-s.counted:
		r.Rest[restConnections] = 0
		for _, p := range s.proxies {
			r.Rest[restConnections] += p.Connections()
		}
		return r, nil
	case <-time.After(within):
		return report{}, fmt.Errorf("soak: client %d does not count what it has", s.number)
	}
}

// looks has what was seen at rest.
type looks struct {
	last        map[holder]rest // of each process; empty after its first look
	most        rest
	differences map[string][]int
}

// rested takes what a process has at rest.
func (j *judge) rested(of holder, now rest) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := &j.looks
	if l.last == nil {
		l.last, l.most, l.differences = map[holder]rest{}, rest{}, map[string][]int{}
	}
	before, seen := l.last[of]
	for figure, n := range now {
		l.most[figure] = max(l.most[figure], n)
		if was, known := before[figure]; known {
			l.differences[figure] = append(l.differences[figure], n-was)
		}
	}
	if l.last[of] = now; !seen {
		l.last[of] = nil
	}
}

// atRest gives the figures at rest. The judge is locked.
func (j *judge) atRest() map[string]atRest {
	if j.looks.last == nil {
		return nil
	}
	all := map[string]atRest{}
	for _, figure := range restFigures {
		differences := slices.Sorted(slices.Values(j.looks.differences[figure.name]))
		f := atRest{Most: j.looks.most[figure.name], Looks: len(differences)}
		if f.Looks > 0 {
			f.Median = differences[(f.Looks-1)/2]
		}
		all[figure.name] = f
	}
	return all
}

// judgeRest finds the figures that grow.
func (j *judge) judgeRest() {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := j.atRest()
	for _, figure := range restFigures {
		if f := all[figure.name]; f.Looks >= restLeast && f.Median > figure.most {
			j.violation(grows, "%s grow by %d from look to look, the median of %d", figure.name, f.Median, f.Looks)
		}
	}
}
