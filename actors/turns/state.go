package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Turns has the calls of one client.
type Turns struct {
	now   Moment
	out   []Output
	taken []Output // by the last Take, to be used again
	free  struct {
		queues []*queue
		lines  []*line
		calls  []*call
		holds  []*hold
	}
	queues  map[Key]*queue
	calls   []*call
	holds   []*hold
	number  uint64 // of the newest call
	waiting int    // calls that do not hold
	asked   int    // lock actors that queue
	kept    int
	making  time.Duration // until when kept holds that were given back make room
	bounds  Bounds
	ending  bool // nothing is kept any more
	over    []*hold
}

// Bounds are those of a client.
type Bounds struct {
	// Waiting bounds the holds of a queue that are asked for: see actors.WithMaxWaiting.
	Waiting int
	// Kept bounds the holds that are kept.
	Kept int
}

// DefaultBounds are those that clients have.
func DefaultBounds() Bounds { return Bounds{Waiting: 256, Kept: 1024} }

// New makes the machine of a client that has just begun.
func New(b Bounds) *Turns { return &Turns{queues: map[Key]*queue{}, bounds: b} }

// Take gives what is to be done, in order, and forgets it. It is valid until the next Take.
func (t *Turns) Take() []Output {
	out := t.out
	t.out, t.taken = t.taken[:0], out
	return out
}

func (t *Turns) emit(o Output) { t.out = append(t.out, o) }

type queue struct {
	key   Key
	lines []*line
	// awaiting are the calls within a lease of the same lock that wait for another call of their
	// owner.
	awaiting calls
	calls    int  // that have not ended
	holds    int  // that have not ended
	waiting  int  // calls in lines
	exclude  int  // of these, those that do not read
	tries    int  // of these, those that do not wait for others
	full     bool // as many holds are asked for as may be, and few have gone since
	asked    int  // holds that are asked for, without downgrades
	leaving  int  // holds that were cancelled while asked for, and are not gone
	resting  int  // holds that were kept last, and are not gone
	used     int  // holds that a call has
	readers  int  // calls that hold and read
	writers  int  // calls that hold and do not
	// newest is the greatest token that was granted, newestWrite to a call that does not read. A
	// hold with a smaller next token is gone at the servers.
	newest, newestWrite messages.Token
}

type line struct {
	queue *queue
	want  *Want // of its first call
	most  int   // grants that one hold serves
	// closed: no other call may join: a line of one call, or of readers when a call that excludes
	// them waits.
	closed    bool
	waiting   calls
	undecided int // of these, calls with a bound that are not judged yet
	asked     []*hold
	open      []*hold // that are held, and may serve further calls
	covered   int     // calls that the asked holds may serve
	holds     []*hold // all, also those that serve no more
}

type callPhase uint8

const (
	// placing: it is about to wait, or to be answered. Invariant: no call is so between inputs.
	placing callPhase = iota
	// waits: it is in its line. Invariant: hold is nil, or is asked for it.
	waits
	// awaitsOwner: another call of its owner is decided first. Invariant: it has no line and no
	// hold.
	awaitsOwner
	holds
	revoking
	ended
)

type bound uint8

const (
	unbounded bound = iota // it has no bound, or was let in
	undecided
)

// call is a Lock of a caller, until it has given back.
type call struct {
	id     CallID
	queue  *queue
	line   *line
	want   *Want
	phase  callPhase
	bound  bound
	number uint64
	hold   *hold // that was asked for it, or that it has
	due    time.Duration

	sameOwner  *call // the next call of its owner for this lock, in a circle
	prev, next *call // in its line, or among those that have its hold
}

func (c *call) has() bool { return c.phase == holds || c.phase == revoking }

// before reports whether c comes first: by priority, then by arrival.
func (c *call) before(other *call) bool {
	if c.want.Priority != other.want.Priority {
		return c.want.Priority > other.want.Priority
	}
	return c.number < other.number
}

// calls is a linked list: one may leave it from the middle.
type calls struct {
	first, last *call
	n           int
}

func (l *calls) add(c *call) {
	at := l.last
	for at != nil && c.before(at) {
		at = at.prev
	}
	c.prev, c.next = at, l.first
	if at != nil {
		c.next, at.next = at.next, c
	} else {
		l.first = c
	}
	if c.next != nil {
		c.next.prev = c
	} else {
		l.last = c
	}
	l.n++
}

func (l *calls) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.prev, c.next = nil, nil
	l.n--
}

func (c *call) leaveOwner() {
	before := c
	for before.sameOwner != c {
		before = before.sameOwner
	}
	before.sameOwner, c.sameOwner = c.sameOwner, c
}

type holdPhase uint8

const (
	// asked: its lock actor queues. Invariant: it is in the list asked of its line.
	asked holdPhase = iota
	// awaitsRoom: it was refused for want of room, and is asked for again when kept holds are gone,
	// or after a pause.
	awaitsRoom
	// held: it may serve calls. Invariant: it is in the list open of its line.
	held
	// kept: it is held, and nobody asks. No call has it.
	kept
	// spent: it serves no further call, and is given back when no call has it.
	spent
	// revoked: it is spent, because somebody has asked for the lock.
	revoked
	// leaving: it is given back or cancelled. Its lock actor has not ended.
	leaving
	// gone: its slot is free.
	gone
)

type ownWatch uint8

const (
	unwatched ownWatch = iota
	watched
	unreadable
)

type contention uint8

const (
	unknown contention = iota
	// alone: a watch for contenders was asked for, and has not fired.
	alone
	contended
)

type link uint8

const (
	up link = iota
	suspended
)

type hold struct {
	id     HoldID
	line   *line
	phase  holdPhase
	link   link
	watch  ownWatch
	rivals contention

	try       bool
	shared    bool // its node names no call
	waits     bool // it is known to wait for others
	checking  bool
	resting   bool // it is kept, or was when it was given back
	cancelled bool // it leaves, and has not held

	call   *call  // for which it is asked, while it is
	beside HoldID // whose place a downgrade takes; 0 for others
	serves int    // calls that wait for it, at most
	before int    // contenders that its first listing showed before it; -1 until then
	users  calls  // that have it
	due    time.Duration

	epoch, term uint64
	token       messages.Token // of its first grant
	timeout     time.Duration  // of its session
	places      int            // free ones behind its own
	grants      int
	counted     int           // of these, against Cohort
	until       time.Duration // the end of its time, from the first grant on
	left        time.Duration // of its time, while that stands still
	since       time.Duration // when it was kept
	proved      time.Duration // when its node was known to exist
	txns        int
}

const (
	// turnsPerTimeout bounds a hold's time: so many clients have their turn within a session
	// timeout.
	turnsPerTimeout = 20
	// restsPerTimeout is the number of heartbeats in a session timeout. A hold that rests for
	// longer is checked.
	restsPerTimeout = 6
	// askedTogether is the part of Bounds.Waiting that is asked for at once, in one transaction.
	askedTogether = 4
	// roomPause is the pause after a refusal for want of room.
	roomPause = 100 * time.Millisecond
	// fullPause is the pause before a hold is asked for again that found the queue full.
	fullPause = time.Second
	many      = 1 << 30
)
