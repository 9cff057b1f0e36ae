package main

import (
	"cmp"
	"slices"
)

// mode is the mode in which a lock is held.
type mode string

const (
	exclusive mode = "exclusive"
	reading   mode = "reading"
	permit    mode = "permit"
)

// pair is two grants of one lock whose leases were valid at one instant, the one that was given first
// before the other.
type pair struct{ first, second *grant }

// excludes reports whether the two may not hold at the same time.
func (g *grant) excludes(other *grant) bool {
	switch {
	case g.mode == permit && other.mode == permit:
		return false // they are counted: see crowd
	case g.mode == reading && other.mode == reading:
		return false
	}
	return true
}

// overlap is for how many nanoseconds both leases were certainly valid; not positive when they were not.
func (g *grant) overlap(other *grant) int64 {
	if !g.valid() || !other.valid() {
		return 0
	}
	return min(g.end, other.end) - max(g.at, other.at)
}

// checkOverlap compares a grant with every other one. It is called again as more becomes known of the
// grant, so that overlaps get their full length.
func (j *judge) checkOverlap(l *contended, g *grant) {
	for _, other := range l.grants {
		if other == g || !g.excludes(other) {
			continue
		}
		if length := g.overlap(other); length > 0 {
			j.heldAtOnce(l, g, other, length)
		}
	}
	if g.mode == permit {
		j.checkCrowd(l, g)
	}
}

// heldAtOnce notes a pair, or that it held for longer than was known.
func (j *judge) heldAtOnce(l *contended, g, other *grant, length int64) {
	p := pair{other, g}
	if g.at < other.at {
		p = pair{g, other}
	}
	f := l.pairs[p]
	if f == nil {
		f = j.find(doubleHolders, l, []*grant{p.first, p.second}, "lock %d: %v and %v", l.number, p.first, p.second)
		l.pairs[p] = f
	}
	f.length = max(f.length, length)
}

// checkCrowd looks whether more permits of a semaphore were valid than it has, at the instants at which
// permits were given: more at once begins with one that is given.
func (j *judge) checkCrowd(l *contended, g *grant) {
	for _, newest := range l.grants {
		if newest != g && newest.overlap(g) <= 0 || !newest.valid() || newest.mode != permit {
			continue
		}
		inside := l.insideAt(newest)
		if len(inside) < l.permits {
			continue
		}
		// One permit too many is valid until so many of the others have ended that the rest fit.
		slices.SortFunc(inside, func(a, b *grant) int { return cmp.Compare(b.end, a.end) })
		last := inside[l.permits-1]
		if length := min(newest.end, last.end) - newest.at; length > 0 {
			j.heldAtOnce(l, newest, last, length)
		}
	}
}

// insideAt gives the other permits that were valid when a permit was given.
func (l *contended) insideAt(newest *grant) (inside []*grant) {
	for _, g := range l.grants {
		earlier := g.at < newest.at || g.at == newest.at && g.token < newest.token
		if g != newest && g.mode == permit && g.valid() && earlier && newest.at < g.end {
			inside = append(inside, g)
		}
	}
	return inside
}
