package turns

import (
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Key names a queue. Semaphores and contests have queues of their own.
type Key struct {
	Path, Name string
	Kind       Kind
}

// Kind tells queues of one path and name apart.
type Kind uint8

// The kinds of queues.
const (
	Locks Kind = iota
	Permits
	Contests
)

// KeyOf gives the queue of a request.
func KeyOf(want *Want) Key {
	k := Key{Path: want.Path, Name: want.Name}
	switch want.Mode {
	case messages.Semaphore:
		k.Kind = Permits
	case messages.Contest:
		k.Kind = Contests
	}
	return k
}

// queue has the calls and the holds of one lock. It is forgotten when it has neither.
type queue struct {
	key   Key
	lines []*line
	// awaiting are the calls within a lease of the same lock that wait for another call of their owner.
	awaiting calls
	calls    int // that have not ended
	holds    int // that have not ended
	waiting  int // calls in lines
	exclude  int // of these, those that do not read
	asked    int // holds that are asked for, but for downgrades
	used     int // holds that a call has
	readers  int // calls that hold and read
	writers  int // calls that hold and do not
	// newest is the greatest token that was granted, newestWrite to a call that does not read. A hold whose next token is
	// smaller is gone at the servers, and its end is on its way.
	newest, newestWrite messages.Token
}

// line has the calls that may share a hold, and their holds.
type line struct {
	queue *queue
	want  *Want // of its first call
	most  int   // grants that one hold serves
	// closed: no other call may join. A line of one call is closed from the start, a line of readers when a
	// call that excludes them waits.
	closed    bool
	waiting   calls
	undecided int     // of these, calls with a bound on waiters that are not judged yet
	asked     []*hold // in order
	open      []*hold // that are held, and may serve further calls
	covered   int     // calls that the holds that are asked for may serve
	holds     int     // all, also those that serve no more
}

func (l *line) reads() bool { return l.want.Mode == messages.Read }

// serves gives the number of grants that one hold serves. Permits and contests are nobody else's.
func serves(want *Want, alone bool) int {
	if alone || want.Cohort < 2 || KeyOf(want).Kind != Locks {
		return 1
	}
	return want.Cohort
}

// alike reports whether one hold may serve both requests.
func alike(a, b *Want) bool {
	if a == b {
		return true
	}
	x := *a
	x.Owner, x.Caller, x.Try, x.MaxWaiters, x.Reentry = b.Owner, b.Caller, b.Try, b.MaxWaiters, b.Reentry
	return x == *b
}

// queueOf gives the queue of a request, which is made where there is none.
func (t *Turns) queueOf(want *Want) *queue {
	key := KeyOf(want)
	q := t.queues[key]
	if q == nil {
		q = &queue{key: key}
		t.queues[key] = q
	}
	return q
}

// lineOf gives the line of a request. A call that stands alone has a line of its own.
func (q *queue) lineOf(want *Want, alone bool) *line {
	if !alone {
		for _, l := range q.lines {
			if !l.closed && alike(l.want, want) {
				return l
			}
		}
	}
	l := &line{queue: q, want: want, most: serves(want, alone), closed: alone}
	q.lines = append(q.lines, l)
	return l
}

// forget drops lines and a queue that have neither calls nor holds.
func (t *Turns) forget(q *queue) {
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool { return l.waiting.n == 0 && l.holds == 0 })
	if q.calls == 0 && q.holds == 0 {
		delete(t.queues, q.key)
	}
}
