package main

import (
	"fmt"
	"sync"
)

// The figures that must be zero.
const (
	doubleHolders  = "double holders"
	badTokens      = "tokens out of order"
	validRefused   = "valid holders refused"
	orphans        = "orphans"
	neverEnded     = "requests that never ended"
	notLinearizing = "histories not linearizable"
)

var mustBeZero = []string{doubleHolders, badTokens, validRefused, orphans, neverEnded, notLinearizing}

// judge hears all reports, answers writes, and counts.
type judge struct {
	mu         sync.Mutex
	locks      []*contended
	wrong      map[string]int
	errors     map[string]int
	grants     int
	overAtOnce int
	told       int
	sessions   int
	different  int // times that servers found their trees different
	tainted    int // violations after that, of whatever kind
	differed   func()
	writes     int
	lateWrites int
	late       int // refused writes of holders that had lost the lock

	majority *spell // a majority of the members is up and connected
	whole    *spell // all are, and one leads

	// convict is told of every violation.
	convict  func(kind, text string)
	accusing sync.WaitGroup
}

func newJudge(locks int, convict func(kind, text string)) *judge {
	j := &judge{wrong: map[string]int{}, errors: map[string]int{}, convict: convict,
		majority: newSpell(), whole: newSpell()}
	for n := range locks {
		j.locks = append(j.locks, newContended(n))
	}
	return j
}

// violation is called with the judge locked.
func (j *judge) violation(kind, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if j.different > 0 {
		j.tainted++
		text = "(after servers' trees differed) " + text
	} else {
		j.wrong[kind]++
	}
	j.accusing.Go(func() { j.convict(kind, text) }) // not here: the judge is locked
}

// hear takes a report. For a write it returns the resource's answer.
func (j *judge) hear(r report) *answer {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Lock < 0 || r.Lock >= len(j.locks) {
		return nil
	}
	l := j.locks[r.Lock]
	switch r.Kind {
	case kindAsk:
		l.ask(r.From, r.Call)
	case kindGrant:
		j.granted(l, r)
	case kindWrite:
		return &answer{OK: j.write(l, r)}
	case kindRecheck:
		j.recheck(l, r)
	case kindEnd:
		j.ended(l, r)
	case kindUnlocked:
		j.unlocked(l, r)
	case kindFailed:
		j.errors[r.Op+": "+r.Error]++
		l.answered(r.From)
	case kindHung:
		j.errors[r.Op+": never returned"]++
		l.answered(r.From)
		l.stuck++
		j.violation(neverEnded, "%v lock %d token %d: %s did not return from %d to %d: %s", r.From, r.Lock, r.Token, r.Op, r.Call, r.At, r.Detail)
	case kindSessions:
		j.sessions += r.Count
	}
	return nil
}

func (j *judge) granted(l *contended, r report) {
	j.grants++
	free := max(l.waitingSince, l.freeSince)
	j.majority.waited(l.number, free, r.At)
	j.whole.waited(l.number, free, r.At)
	l.answered(r.From)
	g := &grant{by: r.From, token: r.Token, call: r.Call, at: r.At, end: r.Confirmed}
	if g.valid() {
		j.checkOrder(l, g)
	} else {
		j.overAtOnce++
	}
	l.grants = append(l.grants, g)
	l.freeSince = max(l.freeSince, r.At)
	j.checkOverlap(l, g)
}

// checkOrder compares with every grant that was certainly valid before this one was given.
func (j *judge) checkOrder(l *contended, g *grant) {
	for _, other := range l.grants {
		if !other.valid() {
			continue
		}
		if (other.at < g.at) != (other.token < g.token) {
			j.violation(badTokens, "lock %d: %v and %v", l.number, other, g)
		}
	}
}

// checkOverlap looks for other holders at the same time. However many others held it meanwhile, one that
// believed it held while they did is counted once: the one that was granted first.
func (j *judge) checkOverlap(l *contended, g *grant) {
	for _, other := range l.grants {
		first, second := other, g
		if g.at < other.at {
			first, second = g, other
		}
		if other != g && !first.accused && first.overlaps(second) {
			first.accused = true
			j.violation(doubleHolders, "lock %d: %v and %v", l.number, first, second)
		}
	}
}

func (j *judge) write(l *contended, r report) bool {
	j.writes++
	ok := r.Token >= l.newest
	w := write{call: r.Call, ok: ok, at: now()}
	if g := l.find(r.From, r.Token); g != nil {
		g.writes = append(g.writes, w)
		g.confirm(r.Confirmed)
		if !g.closed {
			j.checkOverlap(l, g)
		} else if ok {
			j.lateWrites++
		}
	}
	if ok && r.Token == l.newest && l.newestBy != r.From {
		j.violation(badTokens, "lock %d: token %d of %v and of %v", l.number, r.Token, l.newestBy, r.From)
	}
	if ok {
		l.newest, l.newestBy = r.Token, r.From
	}
	return ok
}

func (j *judge) recheck(l *contended, r report) {
	if r.Confirmed == 0 {
		j.late++
		return
	}
	j.violation(validRefused, "lock %d: %v with token %d, newest %d of %v, valid at %d", l.number, r.From, r.Token,
		l.newest, l.newestBy, r.Confirmed)
}

func (j *judge) ended(l *contended, r report) {
	g := l.find(r.From, r.Token)
	if g == nil {
		return
	}
	g.confirm(r.Confirmed)
	g.closed, g.released = true, r.At
	l.freeSince = max(l.freeSince, r.At)
	if r.Told {
		j.told++
		g.lost = true
	}
	j.checkOverlap(l, g)
}

func (j *judge) unlocked(l *contended, r report) {
	if r.Error != "" {
		j.errors[r.Op+": "+r.Error]++
	}
	if g := l.find(r.From, r.Token); g != nil {
		if r.Error == "" {
			g.unlockReturn = r.At // otherwise it is not known to be given back
		}
		if r.Error == "lost" && !g.lost {
			j.told++ // by Unlock
		}
	}
}

// gone forgets what a worker that has ended was about: it waits no more, and what it held it held until
// the last it said of it.
func (j *judge) gone(who holder) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.locks {
		l.answered(who)
		for _, g := range l.grants {
			if g.by == who && !g.closed {
				g.closed, g.released = true, g.end
				l.freeSince = max(l.freeSince, now())
			}
		}
	}
}

// ensemble notes whether a majority of the members is up and connected, and whether all are.
func (j *judge) ensemble(majority, whole bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.majority.set(majority)
	j.whole.set(whole)
}
