package messages

import (
	"time"
)

// ActorID names an actor as protoactor's PID does, in comparable plain data.
type ActorID struct {
	// Address is the address of the actor's node, ID its name there.
	Address, ID string
}

// IDOf gives the ActorID of a *actor.PID; the zero value for nil.
func IDOf(pid interface {
	GetAddress() string
	GetId() string
}) ActorID {
	return ActorID{Address: pid.GetAddress(), ID: pid.GetId()}
}

// String gives address/id.
func (a ActorID) String() string { return a.Address + "/" + a.ID }

// Key names the actor among all actor systems of its process, each of which counts from one. system
// is the ID of its own.
func (a ActorID) Key(system string) string { return system + "/" + a.String() }

// Grant says which lock a notice is about. Every notice has one.
type Grant struct {
	Path string
	// Node is the name of the contender's node, without the path; empty without a node.
	Node string
	// Token is the fencing token; zero before the node is known.
	Token Token
	// Actor is the lock actor. A restarted owner compares it with its own: the notice may be for
	// its previous incarnation.
	Actor ActorID
}

// Held: the lock is ours from now on.
type Held struct {
	Grant
	// Session is the ZooKeeper session id of the grant.
	Session int64
	// Epoch counts the session actor's sessions, from 1.
	Epoch uint64
	// Term is the lease's term of the grant. An epoch may have several: an idle client's session
	// outlives its lease. The lock is ours while zkconn.LeaseClock.Unbroken is true of it.
	Term uint64
	// Until is when the lease ends unless renewed, which happens all the time while connected.
	Until time.Time
	// Places is how many places behind the token's no other node can have, MaxPlace less its own:
	// Token+1 to Token+Places are for those that the holder lets hold in its place. It is zero
	// where another node of the lock path was made with this one, for a downgrade, with
	// Acquire.Reclaim, and for a hold that was taken over.
	Places int
}

// Waiting: the request waits. Before counts the contenders before its node at its first listing. It
// is told once for each node, with Acquire.TellMore, and never in contests.
type Waiting struct {
	Grant
	Before int
}

// Behind: the request waits for this contender, the one before it. It is told once that one's node
// has been read, which costs no further request; again when another is before the request, or when
// the node says something else: somebody asks for the lock, or a leader has proclaimed something. It
// is not told with Acquire.WatchAll, whose waiters read no node.
//
// Contender says what its node says; Unread where that may not be read. Holds and WaitsFor are not
// known, and Since only of a Turnstile. [SendRevokeRequest] and [Break] take it.
type Behind struct {
	Grant
	Contender Contender
}

// Watched: the holder's own node is watched from now on, or cannot be (Readable). It is told once
// after Held and after each Resumed, with Acquire.TellMore, unless somebody asks for the lock
// first.
type Watched struct {
	Grant
	Readable bool
}

// Contended: another contender is in the queue, or may be: the servers did not say. It answers
// WatchContention, once.
type Contended struct{ Grant }

// Checked: a transaction sent after Check has committed and found the holder's node.
type Checked struct{ Grant }

// Suspended: the lock is held, but the connection is down or a heartbeat was not answered. Unless
// that changes by Until, the lock is Lost.
type Suspended struct {
	Grant
	Until time.Time
}

// Resumed: the connection and the node are there, and the lock was held all the time.
type Resumed struct {
	Grant
	Until time.Time
}

// RevokeRequested: somebody asks for the lock. Deadline is when it will be released by force; zero
// without Acquire.Grace.
type RevokeRequested struct {
	Grant
	Deadline time.Time
}

// Revoked: the grace period is over and the lock no longer held. Released follows when the node is
// deleted.
type Revoked struct {
	Grant
}

// Released: the lock was given back and the node is gone. Terminal.
type Released struct {
	Grant
	Reason Reason
}

// Lost: the lock was held and is lost. Terminal.
type Lost struct {
	Grant
	Reason Reason
	Detail string
}

// Cancelled: the request ended before it held, and no node of it is left. Terminal.
//
// Detail says why reachable servers did not carry the request out: "the server hangs up on create
// container /x, 5 times"; "" otherwise.
type Cancelled struct {
	Grant
	Reason Reason
	Detail string
}

// Failed: the lock could not be acquired, or could not be given back. Terminal.
//
// Permits is the semaphore's number of permits, where Reason is ReasonPermits; zero where the lock
// path has none.
type Failed struct {
	Grant
	Reason  Reason
	Detail  string
	Permits int
}

// EndOf gives the state in which a notice ends a request, and why; StateNone if it ends none.
func EndOf(notice any) (State, Reason) {
	switch n := notice.(type) {
	case *Released:
		return StateReleased, n.Reason
	case *Lost:
		return StateLost, n.Reason
	case *Cancelled:
		return StateCancelled, n.Reason
	case *Failed:
		return StateFailed, n.Reason
	}
	return StateNone, ReasonNone
}

// Transition is one change of state. Lock actors send it to their observers, in order. The answer to
// [Observe] is one from StateNone to the current state.
type Transition struct {
	Grant
	// From and To differ, except for a request that queues anew.
	From, To State
	// On is the name of the event, If of the condition that let it through, Do of the action.
	On, If, Do string
	// Reason is set where the change leads to an end.
	Reason Reason
	// Session is the ZooKeeper session id; zero when none is known.
	Session int64
	// At is the time of it, by this machine's clock.
	At time.Time
}
