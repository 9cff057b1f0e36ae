package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// The figures that must be zero.
const (
	doubleHolders = "double holders"
	badTokens     = "tokens out of order"
	validRefused  = "valid holders refused"
	orphans       = "orphans"
	neverEnded    = "requests that never ended"
	failed        = "requests that failed"
	lostWakeUps   = "wake-ups that only the poll replaced"
	grows         = "figures that grow"
)

// What else is counted.
const (
	granted     = "grants"
	told        = "locks lost and told"
	lateRefused = "late writes refused"
	ensembles   = "ensembles"
	differed    = "ensembles whose servers' trees differed"
	unrepaired  = "ensembles not repaired"
	tainted     = "violations after trees differed"
)

// settleTime is after what time nothing more is said of a grant: longer than a process is stopped.
const settleTime = 2 * time.Minute

// mode is the mode in which a lock is held.
type mode string

const (
	exclusive mode = ""
	reading   mode = "reading"
	permit    mode = "permit"
)

// judge hears all reports, is the resource that locks guard, and counts.
type judge struct {
	mu       sync.Mutex
	locks    []*contended
	findings []finding
	counts   map[string]int
	events   map[*event]bool // that the controller waits for
	growth   growth
	convict  func(kind, text string) // is called for every violation
	accusing sync.WaitGroup
}

// finding is something that must not be.
type finding struct {
	kind string
	at   time.Time
}

// contended is the judge's record of one lock, and of the resource that it guards.
type contended struct {
	number  int
	newest  int64            // the greatest token that the resource has seen
	waiting map[holder]int64 // since when
	grants  []*grant         // the latest, in the order of their reports
}

// grant is one hold of a lock.
type grant struct {
	by       holder
	mode     mode
	token    int64
	call, at int64 // Lock was called and returned
	end      int64 // the last instant at which the lease was certainly valid; 0 when it never was
	released int64 // when Unlock was called, or the loss was seen; 0 until then
	refused  int64 // a write of its was refused at that instant, before that
	crowded  bool  // it was one permit too many
}

func newJudge(locks int, convict func(kind, text string)) *judge {
	j := &judge{counts: map[string]int{}, events: map[*event]bool{}, convict: convict}
	for n := range locks {
		j.locks = append(j.locks, &contended{number: n, waiting: map[holder]int64{}})
	}
	return j
}

// hear takes a report.
func (j *judge) hear(r report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Kind == kindFailed {
		j.violation(failed, "%+v", r)
	}
	if r.Lock < 0 || r.Lock >= len(j.locks) {
		return
	}
	l := j.locks[r.Lock]
	switch r.Kind {
	case kindAsk:
		l.waiting[r.From] = r.Call
	case kindFailed, kindGaveUp:
		delete(l.waiting, r.From)
	case kindGrant:
		j.granted(l, &grant{by: r.From, mode: r.Mode, token: r.Token, call: r.Call, at: r.At, end: r.Confirmed})
	case kindWrite:
		j.write(l, r)
	case kindEnd:
		if g := l.find(r); g != nil {
			g.end = max(g.end, r.Confirmed)
			j.over(l, g, r.At)
		}
		if r.Told {
			j.counts[told]++
		}
	}
}

func (j *judge) granted(l *contended, g *grant) {
	j.counts[granted]++
	delete(l.waiting, g.by)
	settled := g.at - int64(settleTime)
	for len(l.grants) > 0 && l.grants[0].released != 0 && l.grants[0].released < settled {
		l.grants = l.grants[1:]
	}
	l.grants = append(l.grants, g)
	for e := range j.events {
		if e.matches(l, g) {
			close(e.happened)
			delete(j.events, e)
		}
	}
}

// find gives the newest grant that a report is about.
func (l *contended) find(r report) *grant {
	for _, g := range slices.Backward(l.grants) {
		if g.by == r.From && g.token == r.Token {
			return g
		}
	}
	return nil
}

// write has the resource refuse a write with a smaller token than it has seen.
func (j *judge) write(l *contended, r report) {
	g := l.find(r)
	if g != nil && g.released == 0 {
		g.end = max(g.end, r.Confirmed)
	}
	switch {
	case r.Token >= l.newest:
		l.newest = r.Token
	case g == nil || g.released != 0:
		j.counts[lateRefused]++
	case g.refused == 0:
		g.refused = now()
	}
}

// over notes the end of a hold, of which all is known now, and compares it with the others. So each pair is compared once, when
// the second of the two is over.
func (j *judge) over(l *contended, g *grant, at int64) {
	g.released = max(at, 1)
	switch {
	case g.refused != 0 && g.end > g.refused:
		j.violation(validRefused, "lock %d: %+v, newest %d", l.number, *g, l.newest)
	case g.refused != 0:
		j.counts[lateRefused]++
	}
	for _, other := range l.grants {
		if other != g && other.released != 0 && g.excludes(other) {
			j.compare(l, g, other)
		}
	}
	if g.mode == permit {
		j.checkCrowd(l)
	}
}

// excludes reports whether the two may not hold at the same time.
func (g *grant) excludes(other *grant) bool { return g.mode != other.mode || g.mode == exclusive }

// compare looks for what the two of one lock exclude. A lease that was over when Lock returned is never certainly valid, but
// the servers had given the lock away by then.
func (j *judge) compare(l *contended, first, second *grant) {
	if second.token < first.token {
		first, second = second, first
	}
	valid := second.end != 0
	if first.end > second.at && (!valid || second.end >= first.at) {
		length := time.Duration(first.end - max(first.at, second.at))
		if valid {
			length = min(length, time.Duration(second.end-max(first.at, second.at)))
		}
		j.violation(doubleHolders, "lock %d for %v: %+v and %+v", l.number, length, *first, *second)
	}
	if first.token == second.token || first.call > second.at || valid && first.end != 0 && first.at > second.at {
		j.violation(badTokens, "lock %d: %+v and %+v", l.number, *first, *second)
	}
}

// checkCrowd looks whether more permits of a semaphore were valid than it has, at the instants at which permits were given:
// more at once begins with one that is given.
func (j *judge) checkCrowd(l *contended) {
	for _, g := range l.grants {
		inside := 0
		for _, other := range l.grants {
			if other.mode == permit && other.released != 0 && other.at <= g.at && g.at < other.end {
				inside++
			}
		}
		if inside > semaphorePermits && g.mode == permit && !g.crowded {
			g.crowded = true
			j.violation(doubleHolders, "lock %d: %d permits of %d at the grant of %+v", l.number, inside, semaphorePermits, *g)
		}
	}
}

// gone forgets what a process that has ended was about: it waits no more, and what it held it held until the last it said of
// it.
func (j *judge) gone(client, incarnation int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	its := func(who holder) bool { return who.Client == client && who.Incarnation == incarnation }
	for _, l := range j.locks {
		for who := range l.waiting {
			if its(who) {
				delete(l.waiting, who)
			}
		}
		for _, g := range l.grants {
			if its(g.by) && g.released == 0 {
				j.over(l, g, now())
			}
		}
	}
}

// violation notes a finding. The judge is locked.
func (j *judge) violation(kind, format string, args ...any) {
	j.findings = append(j.findings, finding{kind, time.Now()})
	text := fmt.Sprintf(format, args...)
	j.accusing.Go(func() { j.convict(kind, text) }) // not here: the judge is locked
}

// accuse is violation with the judge unlocked.
func (j *judge) accuse(kind, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.violation(kind, format, args...)
}

// taint has what was found since then not accuse the library.
func (j *judge) taint(since time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, f := range j.findings {
		if f.at.After(since) {
			j.findings[i].kind = tainted
		}
	}
}

// result counts what was found.
func (j *judge) result() (counts, wrong map[string]int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	wrong = map[string]int{doubleHolders: 0, badTokens: 0, validRefused: 0, orphans: 0, neverEnded: 0, failed: 0, lostWakeUps: 0, grows: 0}
	for _, f := range j.findings {
		wrong[f.kind]++
	}
	counts = map[string]int{tainted: wrong[tainted]}
	delete(wrong, tainted)
	for what, n := range j.counts {
		counts[what] = n
	}
	return counts, wrong
}

// event is a grant that the controller waits for.
type event struct {
	happened chan struct{} // closed by the first grant that matches
	matches  func(l *contended, g *grant) bool
}

// await notes what grant is waited for; forget ends that.
func (j *judge) await(matches func(l *contended, g *grant) bool) (happened <-chan struct{}, forget func()) {
	e := &event{make(chan struct{}), matches}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events[e] = true
	return e.happened, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.events, e)
	}
}

// grantedTo is a grant of a client.
func grantedTo(client int) func(*contended, *grant) bool {
	return func(_ *contended, g *grant) bool { return g.by.Client == client }
}

const (
	// overtakenMargin is by how much a request comes after another one for certain.
	overtakenMargin = 20 * time.Millisecond
	// overtakenWait is the wait after which a waiter counts as overtaken by one behind it.
	overtakenWait = 100 * time.Millisecond
)

// overtakes is a grant to somebody else of a lock that a client has asked for earlier, after a wait for nobody but that
// client: its session has expired.
func overtakes(client int) func(*contended, *grant) bool {
	return func(l *contended, g *grant) bool {
		asked := int64(0)
		for who, since := range l.waiting {
			if who.Client == client && since < g.call-int64(overtakenMargin) {
				asked = max(asked, since)
			}
		}
		return asked != 0 && g.by.Client != client && g.at-g.call >= int64(overtakenWait) &&
			!slices.ContainsFunc(l.grants, func(other *grant) bool {
				return other != g && (other.released == 0 || other.released >= asked)
			})
	}
}
