package queue

import "slices"

// Standing is how one contender stands in its queue.
type Standing struct {
	Entry
	// Holds: nobody keeps it out.
	Holds bool
	// WaitsFor names the nodes whose end may let it in, where it does not hold: see Position.Front.
	WaitsFor []string
}

// Standings gives every contender among the children of a lock path, queue by queue, in the order
// in which they came, each as [Find] would.
func Standings(children []string, permits int) []Standing {
	var all []Standing
	for _, q := range NewListing(children, permits).queues {
		for _, e := range q.entries {
			position := q.position(e)
			all = append(all, Standing{Entry: e, Holds: position.Before == 0, WaitsFor: slices.Clone(position.Front)})
		}
	}
	return all
}
