package inspect

import (
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Cohort is a node of a session that is passed on among its requests. The session knows more than
// the node says: which request has it now, and which wait behind it without a node. All have an ID.
type Cohort struct {
	// Has is the request that holds or waits with the node. It says what the node would say if it were
	// written now.
	Has messages.Contender
	// Waiting are the requests that wait behind it, in their order.
	Waiting []messages.Contender
}

// cohorts are those of one session.
type cohorts []Cohort

// contested adds the lock paths below a root where somebody waits in a cohort to those that have
// waiters, in order.
func (own cohorts) contested(paths []string, root string) []string {
	below := strings.TrimSuffix(root, "/") + "/"
	for _, k := range own {
		if path := k.Has.Path; len(k.Waiting) > 0 && (path == root || strings.HasPrefix(path, below)) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// addTo gives lock paths as they were read, with those that wait in cohorts, and with who has their
// nodes now.
func (own cohorts) addTo(read []queue.LockPath) []queue.LockPath {
	if len(own) == 0 {
		return read
	}
	by := map[string]Cohort{}
	for _, k := range own {
		by[k.Has.At()] = k
	}
	all := slices.Clone(read)
	for i := range all {
		all[i].Contenders, all[i].Waiting = slices.Clone(all[i].Contenders), map[string][]messages.Contender{}
		for at, c := range all[i].Contenders {
			if k, known := by[c.At()]; known {
				all[i].Contenders[at] = named(c, k.Has)
				all[i].Waiting[c.Node] = k.Waiting
			}
		}
	}
	return all
}

// named gives a contender that is whoever has its node now.
func named(c, has messages.Contender) messages.Contender {
	c.Library, c.Host, c.PID, c.Actor = has.Library, has.Host, has.PID, has.Actor
	c.Owner, c.Caller, c.Label, c.Since = has.Owner, has.Caller, has.Label, has.Since
	c.Who, c.Detects, c.Cohort, c.Waiting, c.ID = has.Who, has.Detects, has.Cohort, has.Waiting, has.ID
	return c
}

// standsStill tells whether a member of a deadlock still has its node, or still waits behind the
// same one. Of those that are not in cohorts of this session the readings say that.
func (own cohorts) standsStill(c messages.Contender) bool {
	if c.ID == "" {
		return true
	}
	return slices.ContainsFunc(own, func(k Cohort) bool {
		if c.HasNode() {
			return k.Has.ID == c.ID && k.Has.At() == c.At()
		}
		return slices.ContainsFunc(k.Waiting, func(b messages.Contender) bool {
			return b.ID == c.ID && slices.Equal(b.WaitsFor, c.WaitsFor)
		})
	})
}

// passedOnElsewhere tells whether a node takes part in a deadlock that is passed on within another
// session.
func passedOnElsewhere(d messages.Deadlock) bool {
	elsewhere := func(c messages.Contender) bool { return c.Cohort > 1 && c.ID == "" }
	return slices.ContainsFunc(d.Members, func(m messages.Member) bool { return elsewhere(m.Keeps) || elsewhere(m.Waits) })
}
