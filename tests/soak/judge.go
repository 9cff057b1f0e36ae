package main

import (
	"cmp"
	"sync"
	"time"
)

// The figures that must be zero.
const (
	doubleHolders  = "double holders"
	retainedGone   = "wrong after a retained node was deleted"
	badTokens      = "tokens out of order"
	validRefused   = "valid holders refused"
	orphans        = "orphans"
	neverEnded     = "requests that never ended"
	failed         = "requests that failed"
	lostWakeUps    = "wake-ups that only the poll replaced"
	notLinearizing = "histories not linearizable"
	grows          = "figures that grow"
)

var mustBeZero = []string{doubleHolders, retainedGone, badTokens, validRefused, orphans, neverEnded, lostWakeUps,
	notLinearizing, staleCommits, mistoldCommits, failed, notBack, grows}

// operatorBroke names the count of findings that an operator's delete of a held node explains; it need not be zero.
const operatorBroke = "after an operator deleted a held node"

// judge hears all reports, answers writes, and counts.
type judge struct {
	mu         sync.Mutex
	locks      []*contended
	findings   []*finding
	errors     map[string]int
	grants     int
	overAtOnce int
	told       int
	sessions   int
	polls      int   // wake-ups that only the poll replaced, at any time
	calmSince  int64 // nothing is broken since; 0: something is
	calmSeen   int64 // the last look in the calm
	clock      func() int64
	heldUps    int // times that the machine was held up in the calm
	session    time.Duration
	lateGrants map[int]int64 // the last one of each client
	different  int           // times that servers found their trees different
	broken     int           // times that members could not be brought back
	differed   func()        // ends the life of the ensemble
	writes     int
	lateWrites int
	late       int // refused writes of holders that had lost the lock

	majority *spell // a majority of the members is up and connected
	whole    *spell // all are, and one leads

	wipe wipeRecord

	looks looks

	// strict: no request may fail, under any fault, unless its caller gives up.
	strict bool

	events map[*event]bool // that the controller waits for

	// convict is called for every violation.
	convict  func(kind, text string)
	accusing sync.WaitGroup
}

func newJudge(locks int, session time.Duration, convict func(kind, text string)) *judge {
	j := &judge{clock: now, lateGrants: map[int]int64{}, events: map[*event]bool{}, session: session, errors: map[string]int{}, convict: convict,
		majority: newSpell(), whole: newSpell()}
	for n := range locks {
		j.locks = append(j.locks, newContended(n))
	}
	return j
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
	case kindCommit, kindCommitted:
		j.committed(l, r)
	case kindEnd:
		j.ended(l, r)
	case kindUnlocked:
		j.unlocked(l, r)
	case kindFailed:
		j.errors[r.Op+": "+r.Error]++
		l.answered(r.From)
		if j.strict && !patienceOver[r.Error] {
			j.violation(failed, "%v lock %d: %s from %d to %d: %s", r.From, r.Lock, r.Op, r.Call, r.At, r.Detail)
		}
	case kindHung:
		j.errors[r.Op+": never returned"]++
		l.answered(r.From)
		l.stuck++
		j.violation(neverEnded, "%v lock %d token %d: %s did not return from %d to %d: %s", r.From, r.Lock, r.Token, r.Op, r.Call, r.At, r.Detail)
	case kindSessions:
		j.sessions += r.Count
	case kindPolls:
		j.polled(r)
	}
	return nil
}

func (j *judge) granted(l *contended, r report) {
	j.grants++
	free := max(l.waitingSince, l.freeSince)
	j.majority.waited(l.number, free, r.At)
	j.whole.waited(l.number, free, r.At)
	l.answered(r.From)
	g := &grant{by: r.From, mode: cmp.Or(r.Mode, exclusive), node: r.Node, token: r.Token,
		call: r.Call, from: r.Call, at: r.At, end: r.Confirmed}
	g.succeed(l.latest(r.Node))
	j.lateGrant(g, time.Duration(r.At-free))
	if g.valid() {
		j.checkOrder(l, g)
	} else {
		j.overAtOnce++
	}
	l.grants = append(l.grants, g)
	l.freeSince = max(l.freeSince, r.At)
	j.checkOverlap(l, g)
	j.notify(l, g)
}

// checkOrder compares with every grant that was certainly valid before this one was given, and that it
// excludes.
func (j *judge) checkOrder(l *contended, g *grant) {
	for _, other := range l.grants {
		if !other.valid() || !g.excludes(other) {
			continue
		}
		if (other.at < g.at) != (other.token < g.token) {
			j.find(badTokens, l, []*grant{other, g}, "lock %d: %v and %v", l.number, other, g)
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
		j.find(badTokens, l, l.both(r), "lock %d: token %d of %v and of %v", l.number, r.Token, l.newestBy, r.From)
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
	g := l.find(r.From, r.Token)
	if g != nil && g.refused {
		return
	}
	if g != nil {
		g.refused = true
	}
	j.find(validRefused, l, l.both(r), "lock %d: %v with token %d, newest %d of %v, valid at %d", l.number, r.From, r.Token,
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

// granting reports whether there have been so many grants.
func (j *judge) granting(least int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.grants >= least
}

// ensemble notes whether a majority of the members is up and connected, and whether all are.
func (j *judge) ensemble(majority, whole bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.majority.set(majority)
	j.whole.set(whole)
}
