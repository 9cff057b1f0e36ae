package machine

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Standing is how one contender stands in its queue.
type Standing struct {
	Entry
	// Holds: nobody keeps it out.
	Holds bool
	// WaitsFor names the nodes whose end may let it in, where it does not hold: see Place.Front.
	WaitsFor []string
}

// Standings gives every contender among the children of a lock path, queue by queue, in the order in which they
// came. It says of each what Find says, and takes one pass for all of them.
func Standings(children []string, permits int) []Standing {
	var all []Standing
	for _, child := range children {
		if e, ok := Parse(child); ok {
			all = append(all, Standing{Entry: e})
		}
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), later(a.Entry, b.Entry))
	})
	for begin := 0; begin < len(all); {
		end := begin
		for end < len(all) && all[end].Name == all[begin].Name {
			end++
		}
		stand(all[begin:end], permits)
		begin = end
	}
	return all
}

// stand judges the contenders of one queue, which are in order.
func stand(queue []Standing, permits int) {
	before, taken, fits := 0, 0, true // before: how many have a smaller number than the one at hand
	writer := ""                      // the nearest before it that readers wait for
	var names []string
	for i := range queue {
		me := &queue[i]
		for ; queue[before].Sequence < me.Sequence; before++ {
			e := queue[before].Entry
			names = append(names, e.Child)
			taken += e.weight(permits)
			fits = taken <= permits
			if e.Mode != messages.Read {
				writer = e.Child
			}
		}
		switch {
		case me.Mode == messages.Semaphore:
			me.Holds = taken+me.Weight <= permits
			if !me.Holds && fits {
				me.WaitsFor = slices.Clone(names)
			} else if !me.Holds {
				me.WaitsFor = []string{names[len(names)-1]}
			}
		case me.Mode == messages.Read:
			me.Holds = writer == ""
			if !me.Holds {
				me.WaitsFor = []string{writer}
			}
		default:
			me.Holds = before == 0
			if !me.Holds {
				me.WaitsFor = []string{names[len(names)-1]}
			}
		}
	}
}
