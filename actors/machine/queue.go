package machine

import (
	"cmp"
	"math"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Place is where a contender stands in a queue.
type Place struct {
	// Before is how many contenders it has to wait for; the first has none. Readers wait for no
	// readers.
	Before int
	// Predecessor is the name of the nearest of them, "" for the first.
	Predecessor string
	// Head tells that nobody can be first when the predecessor's node is gone but this contender.
	Head bool
	// Front names the nodes whose end may let this contender in, the predecessor among them: more than
	// one only for the first waiter of a semaphore, for any holder may leave first.
	Front []string
	// Ahead names all who are before a semaphore's waiter.
	Ahead []string
}

// Find gives the place of the contender named own among the children of a lock path. It is false when
// own is not among them. The children may come in any order. permits is for semaphores alone.
func Find(children []string, own string, permits int) (Place, bool) {
	me, ok := Parse(own)
	if !ok {
		return Place{}, false
	}
	var before []Entry
	present := false
	for _, child := range children {
		if child == own {
			present = true
			continue
		}
		other, ok := Parse(child)
		if ok && other.Name == me.Name && other.Sequence < me.Sequence && me.waitsFor(other) {
			before = append(before, other)
		}
	}
	switch {
	case me.Mode == messages.Semaphore:
		return inSemaphore(before, me, permits), present
	case len(before) == 0:
		return Place{}, present
	}
	nearest := slices.MaxFunc(before, later)
	return Place{
		Before:      len(before),
		Predecessor: nearest.Child,
		Head:        len(before) == 1 && (me.Mode == messages.Read || !nearest.mayDowngrade()),
		Front:       []string{nearest.Child},
	}, present
}

// waitsFor tells whether a contender waits for another that is before it: readers wait for no readers.
func (e Entry) waitsFor(other Entry) bool {
	return e.Mode != messages.Read || other.Mode != messages.Read
}

// later orders entries as they came. A reader at a writer's own place comes behind the writer.
func later(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.reads(), b.reads()), cmp.Compare(a.Child, b.Child))
}

func (e Entry) reads() int {
	if e.Mode == messages.Read {
		return 1
	}
	return 0
}

// inSemaphore gives the place of a semaphore's contender: it holds when it and all before it fit into
// the permits. So the holders are always the first ones of the queue, and nobody overtakes. The first who
// does not fit must see any of those before it leave; the others need only see the one before them go or
// move up, which it says by writing to its node.
func inSemaphore(before []Entry, me Entry, permits int) Place {
	slices.SortFunc(before, later)
	taken, last := 0, true // whether the one before fits
	for _, e := range before {
		taken += e.weight(permits)
		last = taken <= permits
	}
	if taken+me.Weight <= permits {
		return Place{}
	}
	place := Place{Before: max(len(before), 1)} // it may be more than there are permits
	for _, e := range before {
		place.Ahead = append(place.Ahead, e.Child)
	}
	place.Front = place.Ahead
	if len(before) > 0 {
		place.Predecessor = before[len(before)-1].Child
		if !last {
			place.Front = place.Front[len(before)-1:]
		}
	}
	return place
}

// weight is how many permits an entry takes; one of another kind than a semaphore's takes all.
func (e Entry) weight(permits int) int {
	if e.Mode == messages.Semaphore {
		return e.Weight
	}
	return min(max(permits, 1), math.MaxInt32)
}

// View is how a contender looks at a listing.
type View struct {
	// Own is its node.
	Own string
	// Permits is the number of permits of a semaphore, 0 for other modes.
	Permits int
	// All: it watches the whole lock path, so that no news of it says who is gone.
	All bool
}

// ReadQueue is the event that tells a request what a listing says of it.
func ReadQueue(op uint64, children []string, v View) (Event, Place) {
	place, ok := Find(children, v.Own, v.Permits)
	return Event{
		Kind: Listed, Op: op,
		Missing:     !ok,
		First:       ok && place.Before == 0,
		Predecessor: place.Predecessor,
		Head:        place.Head && !v.All,
	}, place
}
