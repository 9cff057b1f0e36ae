package walk

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// How large a world can be. What does not fit is a panic, never a state that is passed over.
const (
	maxContenders = 3
	maxSessions   = 2
	room          = 8
)

// state is all that can differ between two moments of a world. It consists of bytes and nothing else,
// so that states are copied, compared and hashed as a whole.
type state struct {
	contenders [maxContenders]contender
	sessions   [maxSessions]session
	zk         server
	left       Bounds
	// newestGrant is the token of the newest grant.
	newestGrant uint8
}

// fifo is a bounded queue without pointers.
type fifo[T comparable] struct {
	n  uint8
	at [room]T
}

func (q *fifo[T]) push(v T) {
	if q.n == room {
		panic(fmt.Sprintf("walk: no room for %+v behind %+v", v, q.at))
	}
	q.at[q.n] = v
	q.n++
}

// take removes the element at i.
func (q *fifo[T]) take(i int) T {
	v := q.at[i]
	copy(q.at[i:q.n], q.at[i+1:q.n])
	q.n--
	var none T
	q.at[q.n] = none
	return v
}

func (q *fifo[T]) all() []T { return q.at[:q.n] }

// keep removes the elements that are not wanted.
func (q *fifo[T]) keep(wanted func(T) bool) {
	for i := 0; i < int(q.n); {
		if wanted(q.at[i]) {
			i++
		} else {
			q.take(i)
		}
	}
}

// request is a machine.Machine in bytes. Op is the number of the operation as canonical leaves it.
// Reason and Detail are left out: nothing is decided on them.
type request struct {
	State, From, Ending messages.State
	Op                  uint8
	Node                nodeID
	Token               uint8
	Predecessor         nodeID
	Head, Try           bool
}

func (r request) machine() machine.Machine {
	return machine.Machine{
		State: r.State, From: r.From, Ending: r.Ending, Op: uint64(r.Op),
		Node: r.Node.name(), Token: messages.Token(r.Token),
		Predecessor: r.Predecessor.name(), Head: r.Head, Try: r.Try,
	}
}

func inBytes(m machine.Machine) request {
	return request{
		State: m.State, From: m.From, Ending: m.Ending, Op: uint8(m.Op),
		Node: named(m.Node), Token: uint8(m.Token),
		Predecessor: named(m.Predecessor), Head: m.Head, Try: m.Try,
	}
}

// contender is one lock actor, and what its session knows of it.
type contender struct {
	request

	begun, stopped bool
	// terminated: the session has not been told yet that the actor has stopped.
	terminated bool
	// guid tells whose node is meant by its own: who made it.
	guid uint8
	// broken: an operator has deleted its node, which takes the lock away without asking anybody.
	broken bool
	// handed: the lock was handed to it when that had happened already, and the node of who gave it back was there.
	// Nobody else may have it until it has been told.
	handed bool
	// epoch is that of the newest news that it has heard, held that of its grant.
	epoch, held uint8
	poll        uint8 // the operation whose Poll is due
	grace       bool  // GraceOver is due

	toldHeld, toldSuspended, toldOver bool // notices to the owner

	inbox  fifo[news]
	slow   bool        // it leaves its inbox for a while
	outbox fifo[order] // orders that the session has not taken yet

	known record
}

// record mirrors the type contender of actors/contenders.go.
type record struct {
	enlisted bool

	node    nodeID
	token   uint8
	place   uint8 // of that
	mates   bool  // others were made with its node, in the same transaction
	granted bool
	leaves  bool  // its node is being deleted, or was
	next    uint8 // who was behind it when it left, counted from 1
	laid    bool  // its node was left to who comes next, and is no concern of its own any more
	rest    rest

	creates uint8
	unsure  bool
	later   fifo[uint8] // verifications that wait for the creates to come back

	vigil    vigil
	own      watcher
	second   nodeID // the one before its predecessor, as the newest listing showed it
	departed nodeID // the predecessor that went last

	gone, settling, settleLater bool
	settleDue                   bool // the timer of settled
}

// watcher is a watch as its contender's session knows it. The session forgets the watches of a
// connection that is lost, but the slot of the contender keeps the path: live tells these apart.
type watcher struct {
	node nodeID
	op   uint8
	live bool
}

// vigil mirrors the type of actors/vigil.go: what a contender watches while it waits. The watcher is that of its
// predecessor.
type vigil struct {
	watcher
	second watcher // of the one before the predecessor, while that is watched too
	head   bool    // the predecessor was seen to be the head of the queue
}

// news mirrors the type of actors/protocol.go.
type news struct {
	Kind                        machine.Kind
	Op, Epoch                   uint8
	Node                        nodeID
	Token                       uint8
	Predecessor                 nodeID
	Alone, Missing, First, Head bool
}

func (n news) event() machine.Event {
	return machine.Event{
		Kind: n.Kind, Op: uint64(n.Op), Node: n.Node.name(), Token: messages.Token(n.Token),
		Predecessor: n.Predecessor.name(),
		Alone:       n.Alone, Missing: n.Missing, First: n.First, Head: n.Head,
	}
}

// order mirrors the type of actors/protocol.go.
type order struct {
	Do    machine.Do
	Op    uint8
	Node  nodeID
	Epoch uint8
}

// session is one session actor with its connection, and what the servers know of the session.
type session struct {
	epoch uint8
	// up: the actor takes the session to be connected. linked: it is; the news are among the events.
	up, linked bool
	lease      bool
	// ending: it was closed for good.
	ending bool
	// established: the servers have granted a session in this epoch. alive: they have not ended it.
	established, alive bool
	// over: a server has said that the session is over.
	over bool
	// lagging: the server behind the connection has not heard of transactions after seen.
	lagging bool
	seen    uint8

	newest  uint8 // the contender with the newest node, counted from 1
	resting uint8 // the contender whose node may be taken up, counted from 1
	parked  fifo[parked]
	tasks   fifo[task]
	events  fifo[event] // of the connection, on their way to the actor
}

// event mirrors zkconn.Event.
type event struct {
	kind eventKind
	node nodeID
}

type eventKind uint8

const (
	nodeDeleted eventKind = iota
	gotConnection
	lostConnection
	sessionExpired
	childrenChanged
)

// parked mirrors the type of actors/contenders.go.
type parked struct {
	contender uint8
	order     order
}

// task is what one goroutine of the session does: a request, or several one after the other.
type task struct {
	Do        machine.Do // Settle for deleteAll
	contender uint8
	op        uint8
	node      nodeID
	beside    nodeID // a delete: what must be there
	decided   uint8  // the epoch of the order, 0 where that had none
	// looked: the node to prove or to delete is known. newest: no verification or create came later.
	looked, newest bool
	// applied: the servers have carried it out, or it is known that nobody will ever know.
	applied bool
	result  outcome
	czxid   uint8
	alone   bool
	// shared: it was carried out in one transaction with others, at this place.
	shared bool
	place  uint8
	zxid   uint8 // of the server when it was carried out
	behind uint8 // events that were on their way before the answer, and still are

	listing listing
}

// listing mirrors the type of actors/listings.go; of each contender, the operation that asked, and that of the vigil
// that looks ahead.
type listing struct {
	active        bool
	waiting, late listers
	shown         [room]nodeID
}

// listers are those who wait for a listing.
type listers struct {
	ops, ahead [maxContenders]uint8
}

// outcome is how a task has ended.
type outcome uint8

const (
	succeeded outcome = iota
	noNode
	unknown
	missing // another node, which was to be there, is not: nothing was done
	taken   // a contest's node is there, and is another's
)

// server is the ensemble, and the one lock path there is.
type server struct {
	nodes    fifo[node]
	sequence uint8             // of the next node
	zxid     uint8             // of the newest create
	watched  [maxSessions]bool // the children
}

// node is a contender's node.
type node struct {
	id             nodeID
	session, epoch uint8
	czxid          uint8
	// doomed: its session is over, and the transaction that deletes it under way.
	doomed  bool
	watched [maxSessions]bool
}
