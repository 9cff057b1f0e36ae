package board

import "time"

// mostEvents bounds the events that are kept, of each lock and of all of them together.
const mostEvents = 500

// The events of a contender, or of a whole queue, between two looks.
const (
	// Came: it has a place in the queue.
	Came = "came"
	// Holds: it was let in.
	Holds = "holds"
	// Ended: it held, and its node is gone: given back, lost or broken, which cannot be told from outside.
	Ended = "ended"
	// Left: it waited, and its node is gone. It has given up, or held between two looks.
	Left = "left"
	// Asked: somebody has asked for the lock back.
	Asked = "asked"
	// More: so much has happened between two looks that the rest of it is only counted.
	More = "more"
)

// mostAtOnce bounds the events that one look at one queue makes; one more event counts the rest. A hand-off is
// three: one has ended, another holds, and perhaps the first has come again.
const mostAtOnce = 6

// A lock that changes all the time would drive what happens to others out of the list of all locks: so each lock has
// so many events there at once, and one more every so often. Further events are counted in one that is told after a
// while.
const (
	newsAtOnce = 8
	newsEvery  = time.Second
	restEvery  = 5 * time.Second
)

// Event is one thing that was seen to have happened. When it was seen is known, and not when it was.
type Event struct {
	ID    int64     `json:"id"`
	At    time.Time `json:"-"`
	AtMS  int64     `json:"at"` // the same in milliseconds
	Path  string    `json:"path"`
	What  string    `json:"what"`
	Who   string    `json:"who,omitempty"`
	Token string    `json:"token,omitempty"`
	// ForMS is the time for which it waited (Holds, Left) or held (Ended), in milliseconds; Least:
	// or longer.
	ForMS int64 `json:"for,omitempty"`
	Least bool  `json:"least,omitempty"`
	// CameMore and LeftMore are the counts of More.
	CameMore int `json:"cameMore,omitempty"`
	LeftMore int `json:"leftMore,omitempty"`
}

// rank orders the events of one look by how much they tell: the events of the lowest rank are kept.
func (e Event) rank() int {
	switch e.What {
	case Asked:
		return 0
	case Holds:
		return 1
	case Ended:
		return 2
	}
	return 3
}

// count counts an event, or what another one counts, into one that says how much has happened.
func (e *Event) count(other Event) {
	switch other.What {
	case Came:
		e.CameMore++
	case Ended, Left:
		e.LeftMore++
	case More:
		e.CameMore += other.CameMore
		e.LeftMore += other.LeftMore
	}
}

// log is the events of all locks, the newest last.
type log struct {
	events []Event
	newest int64
}

// number gives the number of the next event.
func (l *log) number() int64 {
	l.newest++
	return l.newest
}

func (l *log) add(e Event) { l.events = keepNewest(append(l.events, e), mostEvents) }
