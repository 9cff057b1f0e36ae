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
	// Second is the one before the predecessor, "" where there is none. Of exclusive contenders alone.
	Second string
	// Head tells that nobody can be first when the predecessor's node is gone but this contender.
	Head bool
	// Front names the nodes whose end may let this contender in, the predecessor among them: more than
	// one only for the first waiter of a semaphore, for any holder may leave first.
	Front []string
	// Ahead names all who are before a semaphore's waiter.
	Ahead []string
}

// Listing is a lock path as it was read, made ready once for however many contenders ask for their places.
type Listing struct {
	queues  map[string]*ordered // by name
	permits int
}

// ordered is one queue of a listing.
type ordered struct {
	entries []Entry // in their order
	names   []string
	// writers counts, before each entry, those that are no readers; taken the permits that all of them take.
	writers, taken []int
}

// NewListing reads the children of a lock path, which may come in any order. permits is for semaphores alone.
func NewListing(children []string, permits int) *Listing {
	l := &Listing{queues: map[string]*ordered{}, permits: permits}
	for _, child := range children {
		e, ok := Parse(child)
		if !ok {
			continue
		}
		q := l.queues[e.Name]
		if q == nil {
			q = &ordered{entries: make([]Entry, 0, len(children))}
			l.queues[e.Name] = q
		}
		q.entries = append(q.entries, e)
	}
	for _, q := range l.queues {
		q.count(permits)
	}
	return l
}

func (q *ordered) count(permits int) {
	slices.SortFunc(q.entries, later)
	n := len(q.entries)
	q.names, q.writers, q.taken = make([]string, n), make([]int, n+1), make([]int, n+1)
	for i, e := range q.entries {
		q.names[i] = e.Child
		q.writers[i+1], q.taken[i+1] = q.writers[i]+1-e.reads(), q.taken[i]+e.weight(permits)
	}
}

// Find gives the place of the contender named own. It is false when own is not there.
func (l *Listing) Find(own string) (Place, bool) {
	me, ok := Parse(own)
	if !ok {
		return Place{}, false
	}
	q := l.queues[me.Name]
	if q == nil {
		q = &ordered{taken: []int{0}, writers: []int{0}}
	}
	_, present := slices.BinarySearchFunc(q.entries, me, later)
	before, _ := slices.BinarySearchFunc(q.entries, me.Sequence, func(e Entry, seq int32) int { return cmp.Compare(e.Sequence, seq) })
	nearest, count := before-1, before
	if me.Mode == messages.Read { // it waits for no readers
		count = q.writers[before]
		nearest, _ = slices.BinarySearch(q.writers[:before+1], count)
		nearest--
	}
	switch {
	case me.Mode == messages.Semaphore:
		return q.inSemaphore(before, me, l.permits), present
	case count == 0:
		return Place{}, present
	}
	place := Place{
		Before:      count,
		Predecessor: q.names[nearest],
		Head:        count == 1 && (me.Mode == messages.Read || !q.entries[nearest].mayDowngrade()),
		Front:       q.names[nearest : nearest+1 : nearest+1],
	}
	if me.Mode == messages.Exclusive && nearest > 0 {
		place.Second = q.names[nearest-1]
	}
	return place, present
}

// Alone tells whether the contender named own is there, and nobody else in its queue.
func (l *Listing) Alone(own string) bool {
	me, ok := Parse(own)
	if !ok {
		return false
	}
	q := l.queues[me.Name]
	return q != nil && len(q.entries) == 1 && q.entries[0].Child == own
}

// Find gives the place of the contender named own among the children of a lock path: see Listing.
func Find(children []string, own string, permits int) (Place, bool) {
	return NewListing(children, permits).Find(own)
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
func (q *ordered) inSemaphore(before int, me Entry, permits int) Place {
	if q.taken[before]+me.Weight <= permits {
		return Place{}
	}
	place := Place{Before: max(before, 1), Ahead: q.names[:before:before]} // it may be more than there are permits
	place.Front = place.Ahead
	if before > 0 {
		place.Predecessor = q.names[before-1]
		if q.taken[before] > permits { // the one before does not fit either
			place.Front = place.Front[before-1:]
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

// Event is what tells a request what a listing says of it.
func (l *Listing) Event(op uint64, v View) (Event, Place) {
	place, ok := l.Find(v.Own)
	return Event{
		Kind: Listed, Op: op,
		Missing:     !ok,
		First:       ok && place.Before == 0,
		Predecessor: place.Predecessor,
		Head:        place.Head && !v.All,
	}, place
}

// ReadQueue is the event that tells a request what the children of a lock path say of it.
func ReadQueue(op uint64, children []string, v View) (Event, Place) {
	return NewListing(children, v.Permits).Event(op, v)
}
