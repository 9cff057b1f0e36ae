package walk

import (
	"reflect"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/snapshot"
)

// state is all that can differ between two moments of a world. It is copied by assignment: slices are never changed in
// place, and a coordinator is cloned before it takes an input (see world.tell).
type state struct {
	actors   [maxActors]lockActor
	sessions [maxSessions]session
	servers  servers
	left     Bounds
	// newest is, of each lock path, the token of the newest grant, except to readers and in semaphores.
	newest [maxPaths]messages.Token
	// What plans with calls have besides: what callers and clients know, the greatest tokens that calls were granted, and the
	// time.
	calls   [maxCalls]call
	clients [maxSessions]client
	granted [maxPaths]tops
	own     [maxSessions][maxPaths]tops // likewise of each client
	at      time.Duration
}

// tops are the greatest tokens that calls were granted in a queue: those that exclude all, and any.
type tops struct{ alone, any messages.Token }

// lockActor is the shell of one request's machine.
type lockActor struct {
	m     machine.Machine
	life  life
	is    marks
	inbox []envelope
	// beside is the node that a request has named which makes its own beside that.
	beside string
	// epoch is the epoch of the newest event that it has read, held the epoch of its grant, and
	// term the term of the lease then.
	epoch, held, term uint64
	// poll is the operation whose Poll is due; zero for none.
	poll uint64
	// asked says what turns have asked for it for.
	asked askedFor
}

// life is the stage of a lock actor.
type life uint8

const (
	unasked life = iota // the request was not made yet
	asked
	stopped
)

// marks is a set of facts about a lock actor.
type marks uint16

const (
	toldHeld      marks = 1 << iota // the owner was told Held
	toldSuspended                   // Suspended, and not Resumed
	toldOver                        // that it is over
	broken                          // an operator has deleted its node, which takes the lock away without asking anybody
	handed                          // the lock was handed to it after that: nobody else may have it until it has been told
	slow                            // it leaves its mailbox for a while
	grace                           // GraceOver is due
	attends                         // it has asked to be told of other contenders, and was not told
	checks                          // it has asked for its node to be checked, and was not told
	checksNothing                   // there was no node when it asked for that
	owesWatched                     // it is to be told Watched
	queued                          // its session has told it of a node, with which it waits or holds
)

// any reports whether one of some marks is set.
func (m marks) any(of marks) bool { return m&of != 0 }

// put sets marks, or clears them.
func (m *marks) put(which marks, on bool) {
	*m &^= which
	if on {
		*m |= which
	}
}

// lives reports whether a request was made and its lock actor runs.
func (a *lockActor) lives() bool { return a.life == asked }

// envelope has an event for a lock actor; epoch is zero where it is not from the session.
type envelope struct {
	event machine.Event
	epoch uint64
}

// session is the shell of a session's coordinator with its connection, and what the servers know of the session.
type session struct {
	decides *coordinator.Coordinator
	served  served
	link    link
	// up: the coordinator takes the session to be connected. lease: the lease is valid. late: the session leaves its
	// mailbox for a while. closed: it is closed for good.
	// lapsed: no lease may rest on the session of this epoch any more. moved: the session has moved to another server, and
	// this one commits nothing for it any more.
	up, lease, late, closed, lapsed, moved bool
	// seen is the newest transaction that the client has heard of; a lagging server knows none after it.
	seen int64
	term uint64 // of the lease; it begins with the next lease where no lease is valid
	// print is the hash of the coordinator's state.
	print fingerprint

	flights []flight
	timers  []timer             // that are set, the oldest first
	wire    []coordinator.Input // events of the connection, on their way
	mailbox []coordinator.Input // of lock actors
	outlive []sent              // creates and deletes that were lost with a connection: they may be carried out before the next
	sent    []sent              // what a session that was given up had sent: it may be carried out until that one ends
}

// served is a session as the servers know it in this epoch.
type served uint8

const (
	unborn served = iota // they have granted none yet
	alive
	ended // they have ended it; it does not know
	over  // it is about to hear so
)

// link is the connection of a session. The events of its changes are on the wire.
type link uint8

const (
	unlinked link = iota
	linked
	lagging // linked, to a server that has not heard of transactions after seen
)

// timer is a timer that a coordinator has asked for.
type timer struct {
	id   uint64
	kind coordinator.TimerKind
}

// flight is a query that is under way.
type flight struct {
	id    uint64
	query coordinator.Query
	// stage counts the round trips of the query that were made, answer has their results.
	stage  int
	answer coordinator.Answer
	// applied: all round trips were made, or their outcome is unknown for good. lost: the latter.
	applied, lost bool
	commits       bool  // it was a transaction, whose answer renews the lease
	zxid          int64 // of the server when it was carried out
	behind        int   // events that were on the wire before the answer, and still are
	// print is the hash of query and answer, once it was needed.
	print fingerprint
}

// sent is a query that a session had sent before it was given up, or on a connection that is lost.
type sent struct {
	query coordinator.Query
	epoch uint64
}

// servers are one or two lock paths with their nodes, their owners, the watches of each connection, the sequence counter and the
// number of the newest transaction. The end of a session takes two steps, as in ZooKeeper: it is refused first, and its
// nodes are deleted later (CURATOR-604).
type servers struct {
	nodes    []node  // in the order of the queue
	guards   []guard // of contests whose node an operator has deleted by itself
	sequence [maxPaths]int32
	zxid     int64
	permits  int // as recorded
	// children and data are the connections that watch the list of children, and the data of the first lock path.
	children [maxPaths][maxSessions]bool
	data     [maxPaths][maxSessions]bool
}

// guard is the guard of a contest's node; czxid is that of both.
type guard struct {
	name    string
	czxid   int64
	session int
	epoch   uint64
}

// at gives the place of a node, -1 when it does not exist.
func (z *servers) at(name string) int {
	return slices.IndexFunc(z.nodes, func(n node) bool { return n.name == name })
}

// node is a contender's node.
type node struct {
	name, id string // id is the request's
	path     int    // its lock path
	session  int
	epoch    uint64
	czxid    int64
	guard    string // of a contest's node: the name of its guard
	version  int32
	most     int  // the greatest number of permits since it was made
	wanted   bool // its data say that somebody wants the lock
	named    bool // and its holder has written beside that who it is
	doomed   bool // its session is over
	forsaken bool // its client has given its session up, which lives on at the servers
	orphan   bool // made after all, by a create that was lost with an earlier connection
	back     bool // restored servers have brought it back
	watched  [maxSessions]bool
}

// fingerprint is 128 bits that stand for a state, or for a part of one. The probability that two of a thousand million states share one is
// less than 10^-20.
type fingerprint [2]uint64

// with gives a slice with one element more.
func with[T any](all []T, v ...T) []T { return append(all[:len(all):len(all)], v...) }

// but gives a slice without the element at i, replace one with another element there.
func but[T any](all []T, i int) []T          { return slices.Concat(all[:i], all[i+1:]) }
func replace[T any](all []T, i int, v T) []T { return slices.Concat(all[:i], []T{v}, all[i+1:]) }

// copies copies coordinators. Specs and views do not change.
var copies = snapshot.NewCopier[coordinator.Coordinator](reflect.TypeFor[coordinator.Spec](), reflect.TypeFor[coordinator.View](),
	reflect.TypeFor[coordinator.Predecessor]())
