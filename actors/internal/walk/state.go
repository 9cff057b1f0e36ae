package walk

import (
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// state is all that can differ between two moments of a world. It is copied by assignment: slices are never changed in place,
// and a coordinator is cloned before it takes an input (see world.decides).
type state struct {
	actors   [maxActors]lockActor
	sessions [maxSessions]session
	servers  servers
	left     Bounds
	// newest is the token of the newest grant, but to readers and in semaphores.
	newest messages.Token
}

// lockActor is the shell of one request's machine.
type lockActor struct {
	m machine.Machine
	// begun, stopped: it was asked for; it has ended. slow: it leaves its mailbox for a while.
	begun, stopped, slow bool
	inbox                []news
	// epoch is that of the newest news that it has heard, held and run that of its grant and of the lease then.
	epoch, held, run uint64
	poll             uint64 // the operation whose Poll is due
	grace            bool   // GraceOver is due

	toldHeld, toldSuspended, toldOver bool // notices to the owner
	// broken: an operator has deleted its node, which takes the lock away without asking anybody. handed: the lock was handed
	// to it when that had happened already, and the node of who gave it back was there: nobody else may have it until it has
	// been told.
	broken, handed bool
}

// news is an event for a lock actor.
type news struct {
	event machine.Event
	epoch uint64
}

// session is the shell of a session's coordinator with its connection, and what the servers know of the session.
type session struct {
	decides *coordinator.Coordinator
	// up: the coordinator takes the session to be connected. linked: it is; the news are on the wire. ending: it was closed.
	up, linked, ending bool
	// established: the servers have granted a session in this epoch. alive: they have not ended it. over: one has said so.
	established, alive, over bool
	// lagging: the server behind the connection has not heard of transactions after seen.
	lagging bool
	seen    int64
	lease   bool
	run     uint64 // of the lease; a later lease begins it while there is none

	flights []flight
	wire    []coordinator.Input // events of the connection, on their way
	mailbox []coordinator.Input // of lock actors
	late    bool                // it leaves its mailbox for a while
}

// flight is a query that is under way.
type flight struct {
	id    uint64
	query coordinator.Query
	// stage counts the round trips of the query that were made, answer is what they have told.
	stage  int
	answer coordinator.Answer
	// applied: all were made, or it is known that nobody will ever know. lost: that.
	applied, lost bool
	commits       bool  // it was a transaction, whose answer renews the lease
	zxid          int64 // of the server when it was carried out
	behind        int   // events that were on the wire before the answer, and still are
}

// with gives a slice with one element more.
func with[T any](all []T, v ...T) []T { return append(all[:len(all):len(all)], v...) }

// but gives a slice without the element at i.
func but[T any](all []T, i int) []T {
	left := make([]T, 0, len(all))
	return append(append(left, all[:i]...), all[i+1:]...)
}

// replace gives a slice with another element at i.
func replace[T any](all []T, i int, v T) []T {
	next := append(make([]T, 0, len(all)), all...)
	next[i] = v
	return next
}
