package main

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/tests/journal"
)

// contended is the judge's record of one lock, and of the resource that it guards.
type contended struct {
	number   int
	permits  int   // of a semaphore
	newest   int64 // the greatest token that the resource has seen
	newestBy holder

	waiting      map[holder]int64 // since when
	waitingSince int64            // somebody has been waiting all the time since
	freeSince    int64            // nobody has held since

	stuck int // requests that never ended, since the last look for orphans

	grants []*grant // not yet given to the checker of histories

	journal journal.Journal // what holders have committed under it

	pairs     map[pair]*finding // that held at once
	deletions []*deletion       // of contender nodes, by an operator
}

// grant is one hold of a lock.
type grant struct {
	by       holder
	mode     mode
	node     string // the contender node's name; "" where the peer does not tell
	before   *grant // the one that was given with the same node before; nil when nothing more is asked of it
	from     int64  // the grant began to use its node no earlier, as far as is known
	token    int64
	call, at int64 // Lock was called and returned
	// end is the last instant at which the lease was certainly valid; 0 when it never was.
	end    int64
	closed bool // the worker does not claim it any more
	lost   bool // it was told that it lost it
	// released is the time at which Unlock was called, or the loss was seen.
	released     int64
	unlockReturn int64 // 0: it was not, or is not known
	writes       []write
	refused      bool // a write of its, while it was valid
	struck       bool // its node was deleted by an operator
}

// write is one write to the resource, at the time of its answer.
type write struct {
	call, at int64
	ok       bool
}

func newContended(number int) *contended {
	return &contended{number: number, permits: semaphorePermits, waiting: map[holder]int64{}, pairs: map[pair]*finding{}}
}

func (l *contended) ask(who holder, at int64) {
	if len(l.waiting) == 0 {
		l.waitingSince = at
	}
	l.waiting[who] = at
}

func (l *contended) answered(who holder) { delete(l.waiting, who) }

// find gives the newest grant with that token.
func (l *contended) find(who holder, token int64) *grant {
	for i := len(l.grants) - 1; i >= 0; i-- {
		if g := l.grants[i]; g.by == who && g.token == token {
			return g
		}
	}
	return nil
}

// both gives the grant that a report is about, and the grant with the greatest token that the
// resource has seen.
func (l *contended) both(r report) (all []*grant) {
	for _, g := range []*grant{l.find(r.From, r.Token), l.find(l.newestBy, l.newest)} {
		if g != nil {
			all = append(all, g)
		}
	}
	return all
}

// latest gives the newest grant with that node; nil where the node had no grant.
func (l *contended) latest(node string) *grant {
	for i := len(l.grants) - 1; node != "" && i >= 0; i-- {
		if g := l.grants[i]; g.node == node {
			return g
		}
	}
	return nil
}

// valid reports whether the lease was ever certainly valid.
func (g *grant) valid() bool { return g.end != 0 }

func (g *grant) confirm(at int64) { g.end = max(g.end, at) }

// String tells the grant's story in one line.
func (g *grant) String() string {
	return fmt.Sprintf("[client %d.%d worker %d %s token %d node %s called %d granted %d "+
		"valid until %d released %d unlocked %d lost %v]",
		g.by.Client, g.by.Incarnation, g.by.Worker, g.mode, g.token, g.node, g.call, g.at,
		g.end, g.released, g.unlockReturn, g.lost)
}

// takeSettled removes and returns the grants that ended before an instant and all that were given
// before them: nothing that is still to be said can concern them.
func (l *contended) takeSettled(before int64) []*grant {
	n := 0
	for n < len(l.grants) && l.grants[n].closed && l.grants[n].released < before && l.grants[n].at < before {
		n++
	}
	settled := l.grants[:n:n]
	l.noteStruck(settled)
	l.grants = append([]*grant(nil), l.grants[n:]...)
	return settled
}
