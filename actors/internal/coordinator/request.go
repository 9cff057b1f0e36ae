package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// life is the stage of a request, as its lock actor says.
type life uint8

const (
	active life = iota
	// ending: it was given up, or given back.
	ending
	// ended: its lock actor has ended, so nothing comes from it and nothing is told to it. A node
	// that may be left is to be removed.
	ended
)

// wait has the nodes that a request watches while it waits: its predecessor; for the first waiter
// of a semaphore, all contenders before it, and the number of permits; or the whole lock path. It
// ends with the first event that says that the queue has changed. Its operation tells it from
// earlier ones.
type wait struct {
	op uint64
	// nodes has the names of the nodes that keep the request out; the empty name is the lock path
	// itself. The first is its predecessor, where it waits for one.
	nodes    []string
	children bool // it watches the list of children
	pending  int  // reads under way
	remote   bool // it is about a node of another session
	unread   bool // it may not READ a node, so no event comes of that
	// predecessor describes the node before the request, once that is read, while other reads are under way.
	predecessor *Predecessor
}

// nearest is the last node before the request, of those that keep it out; "" for none.
func (w *wait) nearest() string {
	for _, name := range slices.Backward(w.nodes) {
		if name != "" {
			return name
		}
	}
	return ""
}

// lastListing is the position of a request in the newest listing.
type lastListing struct {
	// before counts the contenders that it had to wait for; head is its predecessor, where that was
	// the head of the queue; departed is the predecessor that went last.
	before         int
	head, departed string
	// front has the nodes that a semaphore's waiter is to watch, earlier all contenders before it,
	// permits the number of permits.
	front, earlier []string
	permits        int
	// written is the node before a semaphore's waiter, when that was written to.
	written string
}

// ownWatch is the state of the watch on a holder's own node. It tells of a revoke request, and of
// an operator who deletes the node.
type ownWatch struct {
	phase ownPhase
	// announced: in a semaphore, the waiter behind was told that this request holds. Once for each
	// node: the write's own event may come back here when others of this session watch the node.
	announced bool
	op        uint64
}

type ownPhase uint8

const (
	unwatched ownPhase = iota
	// owed: it is to be read before long.
	owed
	// watched: it was read, or is being read.
	watched
)

// holderAsks is what the owner of a hold has asked for, and was not answered yet: see contention.go.
type holderAsks struct {
	contention uint64 // the newest WatchContention; zero for none
	check      uint64 // the newest Check that it has asked for; zero for none
}

// removal is the removal of a request's node: for its machine, which has asked for it and is
// answered, or because its lock actor has ended and a node may be left. Each request has at most
// one. It goes on until the node is known to be gone, or the epoch is over.
type removal struct {
	phase     removalPhase
	shortHold bool   // the hold was so short that its node was not read yet
	op        uint64 // the newest operation of the machine that waits for it; zero for none
	tries     int
}

type removalPhase uint8

const (
	noRemoval removalPhase = iota
	// removalWanted: as soon as the create has come back, or the connection.
	removalWanted
	// removing: a delete, or the search for the node to delete, is waiting or under way.
	removing
	// removalPaused: it has failed, and is tried again when a timer fires.
	removalPaused
)

// pace paces the orders of a request that servers hang up on or put off: see pause.go.
type pace struct {
	do       machine.Do // of the newest failure
	deferred bool       // the newest was put off
	rested   bool       // the pause after the newest failure is over
	failures int        // of such orders, one after the other; zero where no order has failed
	timer    uint64     // of the pause; zero while none runs
	// waiting is the order that waits for the end of the pause; its operation is zero for none.
	waiting machine.Effect
}

// keepsOrder reports whether an order waits for the end of a pause.
func (p *pace) keepsOrder() bool { return p != nil && p.waiting.Op != 0 }

// voided takes back the order that waits for the end of a pause, and gives it; its operation is zero for none.
func (p *pace) voided() (e machine.Effect) {
	if p != nil {
		e, p.waiting = p.waiting, machine.Effect{}
	}
	return e
}
