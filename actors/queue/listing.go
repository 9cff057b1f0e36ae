package queue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// Position is the position of a contender in its queue. The zero value is a holder's.
type Position struct {
	// Before counts the contenders that it waits for.
	Before int
	// Predecessor is the name of the nearest of them, "" where it waits for nobody.
	Predecessor string
	// Head: this contender is first once the predecessor's node is gone: nobody takes that place by
	// a downgrade or a reclaim.
	Head bool
	// Front names the nodes whose end may let this contender in: several only for the first waiter
	// of a semaphore, because any holder may leave first.
	Front []string
	// Earlier names all contenders that it waits for, in their order.
	Earlier []string
}

// Listing is a lock path as it was read, indexed for any number of calls of Find.
type Listing struct {
	permits int
	queues  []ordered
}

type ordered struct {
	permits        int
	entries        []Entry
	names, writers []string // of all, and of those for which readers wait
	sums           []sum    // of the entries before each, and of all
}

// sum counts contenders, those of them for which readers wait, and their permits.
type sum struct {
	all, writers int
	taken        int64 // cannot overflow: each takes MaxPermits at most
}

// NewListing reads the children of a lock path, in any order. permits is for semaphores alone.
func NewListing(children []string, permits int) *Listing {
	entries := make([]Entry, 0, len(children))
	for _, child := range children {
		if e, ok := Parse(child); ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, compare)
	l := &Listing{permits: permits}
	for begin := 0; begin < len(entries); {
		end := begin
		for end < len(entries) && entries[end].Name == entries[begin].Name {
			end++
		}
		l.queues = append(l.queues, newOrdered(entries[begin:end], permits))
		begin = end
	}
	return l
}

func newOrdered(entries []Entry, permits int) ordered {
	n := len(entries)
	q := ordered{permits: permits, entries: entries, names: make([]string, 0, n), writers: make([]string, 0, n), sums: make([]sum, n+1)}
	for i, e := range entries {
		q.names = append(q.names, e.Child)
		if WaitsFor(messages.Read, e.Mode) {
			q.writers = append(q.writers, e.Child)
		}
		q.sums[i+1] = q.sums[i]
		q.sums[i+1].add(e.Style, 1, permits)
	}
	return q
}

// compare orders entries by queue and number. A reader at a writer's own number comes behind the
// writer.
func compare(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.reads(), b.reads()),
		strings.Compare(a.Child, b.Child))
}

func (s Style) reads() int {
	if s.Mode == messages.Read {
		return 1
	}
	return 0
}

// Find gives the position of the contender named own; false when the listing does not show it. The
// position is then what it would have.
func (l *Listing) Find(own string) (Position, bool) {
	q, me, _, shown := l.find(own)
	return q.position(me), shown
}

func (l *Listing) find(own string) (q *ordered, me Entry, before int, shown bool) {
	me, ok := Parse(own)
	if !ok {
		return &ordered{sums: make([]sum, 1)}, me, 0, false
	}
	q = l.queue(me.Name)
	before, shown = slices.BinarySearchFunc(q.entries, me, compare)
	return q, me, before, shown
}

func (l *Listing) queue(name string) *ordered {
	at, found := slices.BinarySearchFunc(l.queues, name, func(q ordered, name string) int {
		return strings.Compare(q.entries[0].Name, name)
	})
	if !found {
		none := newOrdered(nil, l.permits)
		return &none
	}
	return &l.queues[at]
}

// Alone reports whether own is there, and alone in its queue.
func (l *Listing) Alone(own string) bool {
	q, _, _, shown := l.find(own)
	return shown && len(q.entries) == 1
}

// First reports whether own is there and first in its queue. It stays first.
func (l *Listing) First(own string) bool {
	_, _, before, shown := l.find(own)
	return shown && before == 0
}

// CountBefore counts the contenders before own in its queue, of any kind.
func (l *Listing) CountBefore(own string) int {
	_, _, before, _ := l.find(own)
	return before
}

// Len counts the contenders that the listing shows, in all queues.
func (l *Listing) Len() (n int) {
	for _, q := range l.queues {
		n += len(q.entries)
	}
	return n
}

// Find is [Listing.Find] for a single use.
func Find(children []string, own string, permits int) (Position, bool) {
	return NewListing(children, permits).Find(own)
}

// position gives where a contender stands. A semaphore's first waiter must see every contender
// before it leave, another only its predecessor leave or move up, when it writes to its node.
func (q *ordered) position(me Entry) Position {
	n, _ := slices.BinarySearchFunc(q.entries, me.Sequence, func(e Entry, sequence int32) int {
		return cmp.Compare(e.Sequence, sequence)
	})
	before := q.sums[n]
	if _, out := before.keepOut(me.Style, q.permits); !out {
		return Position{}
	}
	by := q.names[:n:n]
	if me.Mode == messages.Read {
		n = before.writers
		by = q.writers[:n:n]
	}
	position := Position{Before: max(n, 1), Front: by[max(n-1, 0):], Earlier: by}
	if n > 0 {
		position.Predecessor = by[n-1]
	}
	switch me.Mode {
	case messages.Semaphore:
		if before.taken <= int64(q.permits) { // all before it hold
			position.Front = by
		}
	case messages.Read:
		position.Head = n == 1 && !mayBeReplaced(by[0])
	default:
		position.Head = n == 1 && !q.entries[0].mayDowngrade() && !mayBeReplaced(by[0])
	}
	return position
}

// Queue lists the contenders of the queue of a name, in their order.
func (l *Listing) Queue(name string) []string { return l.queue(name).names }

// Entries is Queue with the parsed names.
func (l *Listing) Entries(name string) []Entry { return l.queue(name).entries }

// Names lists all contenders that the listing shows, queue by queue.
func (l *Listing) Names() (all []string) {
	for _, q := range l.queues {
		for _, e := range q.entries {
			all = append(all, e.Child)
		}
	}
	return all
}

// WaitsFor reports whether one kind waits for earlier ones of another: all do, except readers for
// readers. A semaphore's contender waits only while permits are short.
func WaitsFor(mode, earlier messages.Mode) bool {
	return mode != messages.Read || earlier != messages.Read
}

func (b *sum) add(s Style, n, permits int) {
	b.all += n
	if WaitsFor(messages.Read, s.Mode) {
		b.writers += n
	}
	b.taken += int64(n) * s.permitsTaken(permits)
}

// keepOut is the rule of who waits for whom: it counts the contenders that one of style s waits
// for, and says whether it is kept out. by may be zero then: a semaphore's contender needs more
// permits than there are.
func (b sum) keepOut(s Style, permits int) (by int, out bool) {
	switch s.Mode {
	case messages.Semaphore:
		return b.all, b.taken+s.permitsTaken(permits) > int64(permits)
	case messages.Read:
		return b.writers, b.writers > 0
	default:
		return b.all, b.all > 0
	}
}

// permitsTaken counts the permits that a contender takes. One of another kind than a semaphore's
// takes all.
func (s Style) permitsTaken(permits int) int64 {
	if s.Mode == messages.Semaphore {
		return int64(min(s.Weight, MaxPermits))
	}
	return int64(min(max(permits, 1), MaxPermits))
}

// Standing says whether a contender holds, and which contenders it waits for.
type Standing struct {
	Entry
	// Holds: nobody keeps it out.
	Holds bool
	// WaitsFor is Position.Front, where it does not hold. Of several first waiters with one number,
	// only one names all holders.
	WaitsFor []string
	// MayHold: see messages.Contender.
	MayHold bool
}

// Standings gives all contenders of a lock path, queue by queue, in order, as [Find] would.
func Standings(children []string, permits int) []Standing {
	var all []Standing
	for _, q := range NewListing(children, permits).queues {
		kazoo := sum{} // of the contenders that kazoo's locks see
		told := false  // all holders are named
		for _, e := range q.entries {
			position := q.position(e)
			if n := len(position.Front); n > 1 && told {
				position.Front = position.Front[n-1:]
			} else {
				told = told || n > 1
			}
			s := Standing{Entry: e, Holds: position.Before == 0, WaitsFor: slices.Clone(position.Front)}
			if e.Naming == messages.KazooNaming {
				_, out := kazoo.keepOut(e.Style, 0)
				s.MayHold = !s.Holds && !out
				kazoo.add(e.Style, 1, 0)
			}
			all = append(all, s)
		}
	}
	return all
}
