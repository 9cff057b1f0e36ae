package main

import (
	"fmt"
	"time"
)

// finding is something that must not be.
type finding struct {
	kind    string
	at      time.Time // when it was found
	lock    *contended
	of      []*grant // that have part in it
	length  int64    // nanoseconds for which two held
	tainted bool     // servers had found their trees different
	wiped   bool     // the servers' data were wiped around then, which explains it
}

// verdict is the figure that the finding counts for: its kind, unless an operator had deleted the node of
// one that has part in it.
func (f *finding) verdict() string {
	verdict := f.kind
	for _, g := range f.of {
		switch f.lock.custody(g) {
		case goneGranted:
			return retainedGone
		case heldBroken:
			verdict = operatorBroke
		}
	}
	return verdict
}

// find notes a finding of grants. It is called with the judge locked.
func (j *judge) find(kind string, l *contended, of []*grant, format string, args ...any) *finding {
	f := &finding{kind: kind, at: time.Now(), lock: l, of: of, tainted: j.different > 0, wiped: j.wipe.on && excused[kind]}
	j.findings = append(j.findings, f)
	text := fmt.Sprintf(format, args...)
	verdict := f.verdict()
	if f.tainted {
		text = "(after servers' trees differed) " + text
	}
	if verdict != kind {
		text = kind + ": " + text
	}
	if verdict == operatorBroke || f.wiped {
		return f // nobody's fault but the operator's
	}
	j.accusing.Go(func() { j.convict(verdict, text) }) // not here: the judge is locked
	return f
}

// violation notes a finding that is not one of grants. It is called with the judge locked.
func (j *judge) violation(kind, format string, args ...any) {
	j.find(kind, nil, nil, format, args...)
}

// tally counts findings.
type tally struct {
	wrong           map[string]int // the figures that must be zero
	tainted         int            // findings of any kind after servers' trees differed
	operator        int            // that an operator's delete of a held node explains
	wipedDoubles    int            // double holders that a wipe of the servers' data explains
	wipedGrants     int            // grants with tokens or writes that a wipe explains
	wipedLongest    int64          // overlap of two valid leases around a wipe, in nanoseconds
	longest         int64          // overlap of two valid leases, in nanoseconds
	operatorLongest int64          // the same, of pairs that an operator's delete explains
}

// tally counts, with the judge locked. The facts about a delete may have changed since a finding was made.
func (j *judge) tally() tally {
	t, wiped := tally{wrong: map[string]int{}}, map[*grant]bool{}
	for _, f := range j.findings {
		verdict := f.verdict()
		switch {
		case f.wiped && f.kind == doubleHolders:
			t.wipedDoubles++
			t.wipedLongest = max(t.wipedLongest, f.length)
		case f.wiped:
			for _, g := range f.of {
				wiped[g] = true
			}
		case verdict == operatorBroke:
			t.operator++
			t.operatorLongest = max(t.operatorLongest, f.length)
		case f.tainted:
			t.tainted++
		default:
			t.wrong[verdict]++
			t.longest = max(t.longest, f.length)
		}
	}
	t.wipedGrants = len(wiped)
	return t
}
