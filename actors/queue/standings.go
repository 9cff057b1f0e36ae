package queue

import (
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Standing is how one contender stands in its queue.
type Standing struct {
	Entry
	// Holds: nobody keeps it out.
	Holds bool
	// WaitsFor names the nodes whose end may let it in, where it does not hold: see Position.Front.
	WaitsFor []string
	// MayHold: its name is kazoo's, and nobody whom a lock of kazoo's sees by itself keeps it out, though somebody else
	// does: see messages.Contender.
	MayHold bool
}

// Standings gives every contender among the children of a lock path, queue by queue, in the order
// in which they came, each as [Find] would.
func Standings(children []string, permits int) []Standing {
	var all []Standing
	for _, q := range NewListing(children, permits).queues {
		kazoo := earlier[string]{} // those that kazoo's locks see
		for _, e := range q.entries {
			position := q.position(e)
			s := Standing{Entry: e, Holds: position.Before == 0, WaitsFor: slices.Clone(position.Front)}
			if e.Naming == messages.KazooNaming {
				_, out := kazoo.keepOut(e.Style)
				s.MayHold = !s.Holds && !out
				kazoo.add(e.Child, e.Style)
			}
			all = append(all, s)
		}
	}
	return all
}
