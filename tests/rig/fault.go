package rig

import "sync"

// Action is the effect of a [Rule] on the requests that it matches.
type Action int

const (
	// CutBefore cuts the connection in place of passing the request on: it was
	// never applied.
	CutBefore Action = iota
	// DropReply passes the request on, and cuts the connection in place of
	// passing on its reply: it was applied, and its client does not know.
	// Replies that came before it are passed on first.
	DropReply
	// Delay passes the request on, and holds its reply and everything after it
	// until [Fault.Release], or until the connection is cut.
	Delay
)

// Rule says which requests are to meet with what.
type Rule struct {
	// Op matches a request of that kind and a multi with a part of that kind.
	// OpMulti matches multis as such; OpAny everything but pings.
	Op OpCode
	// Path restricts the rule to requests about paths for which it is true; of
	// a multi it looks at those parts that Op matches, or with OpMulti and OpAny
	// at all. Nil accepts requests without a path too. It is called while the
	// proxy is locked and must not call it.
	Path func(string) bool
	// Action is the effect.
	Action Action
	// Count is to how many requests it happens; 0 means 1.
	Count int
}

func (r Rule) matches(q request) bool {
	whole := r.Op.covers(q.op)
	if whole && r.Path == nil {
		return true
	}
	for _, part := range q.parts {
		if !whole && !r.Op.covers(part.op) {
			continue
		}
		if r.Path == nil || part.hasPath && r.Path(part.path) {
			return true
		}
	}
	return false
}

// Fault is a [Rule] at work.
type Fault struct {
	rule     Rule
	fired    chan struct{}
	released chan struct{}
	release  sync.Once

	mu     sync.Mutex
	free   int // requests still to be caught
	undone int // requests to which it has yet to happen
}

func newFault(rule Rule) *Fault {
	count := max(rule.Count, 1)
	return &Fault{
		rule:     rule,
		fired:    make(chan struct{}),
		released: make(chan struct{}),
		free:     count,
		undone:   count,
	}
}

// Fired is closed when the fault has happened to as many requests as its rule
// says. CutBefore and DropReply have happened once the connection is cut; Delay
// when the reply is there and held back.
func (f *Fault) Fired() <-chan struct{} { return f.fired }

// Release lets delayed replies pass, now and later. It may be called again.
func (f *Fault) Release() { f.release.Do(func() { close(f.released) }) }

// catch takes the request when the rule matches and is not used up.
func (f *Fault) catch(q request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free == 0 || !f.rule.matches(q) {
		return false
	}
	f.free--
	return true
}

// giveBack undoes a catch: the connection ended before the fault could happen.
func (f *Fault) giveBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free++
}

func (f *Fault) happened() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undone--
	if f.undone == 0 {
		close(f.fired)
	}
}
