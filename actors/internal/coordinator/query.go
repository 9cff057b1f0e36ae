package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/outcome"
)

// Query asks the servers for something: a closed set. Some take several round trips; the shell has a function of a
// connection for each, and the model of package walk a step.
type Query interface{ query() }

// Answer is their answer.
type Answer interface{ failure() Failure }

type (
	// Create makes the node of one request, by itself: where the lock path is not known to be
	// there, or for a semaphore. The answer has the path info that was learnt on the way. *Created
	// answers it.
	Create struct {
		Request RequestID
		Spec    *Spec
		GUID    string // of the attempt
		Info    Info
		// List: the queue is to be listed behind the create, in the same round trip.
		List bool
	}

	// CreateAt makes the node of a reader at a writer's own number, if the writer's node is there. *Created answers it.
	CreateAt struct {
		Spec *Spec
		Name string
		// Beside is the writer's node.
		Beside string
	}

	// SeekReclaimable looks for the node that an earlier process held with, which has the reclaim key of the
	// request, in a session that no process uses any more. *Reclaimable answers it.
	SeekReclaimable struct{ Spec *Spec }

	// TakeOver replaces the node of an earlier process by the node of a request, in one
	// transaction, if the old node is there and nobody has written to it. *Created answers it.
	TakeOver struct {
		Spec *Spec
		Name string
		From Reclaimable
	}

	// Commit makes and deletes nodes, all or none, in one transaction, if all of some others exist. *Committed answers it.
	Commit struct {
		Creates []NewNode
		// Deletes and Exist are paths.
		Deletes, Exist []string
	}

	// List reads a queue, and before it, where Permits is above zero, the number of permits, which is recorded as this
	// where none is. *Listed answers it.
	List struct {
		Path    string
		Permits int
	}

	// Watch reads a node and watches it; a node that is gone leaves no watch. *Read answers it.
	Watch struct{ Path string }

	// WatchChildren lists the children of a lock path and watches them. *Listed answers it.
	WatchChildren struct{ Path string }

	// WatchContention lists the children of a lock path and watches them, and then, where the node is alone in its queue,
	// reads it and watches it too. *Contention answers it.
	WatchContention struct{ Path, Node string }

	// ReadOwn reads a holder's own node and watches it. Announce: its data are written again
	// before, so that its watchers hear of it. *Read answers it.
	ReadOwn struct {
		Path     string
		Announce bool
		// Says is written again to a node whose data a revoke request has overwritten. In a contest
		// it is also written where the revoke request names another holder.
		Says NewNode
		// Czxid, in a contest, is the czxid of the holder's node. A node with another czxid is
		// another holder's, and is only read.
		Czxid int64
	}

	// Look lists the nodes of an epoch in a lock path, after a committed transaction, and reads those of some requests.
	// *Looked answers it.
	Look struct {
		Path string
		Mark mark
		Seek []RequestID
		// Guards are the names of guards among what is sought. Somebody may have deleted one by itself, and the path may be
		// one that may not be listed. In that case (NoAuth) the answer has all of them.
		Guards []string
	}

	// RemoveContest deletes the one node of a contest if it is the one that was made with the guard, and the guard,
	// both or none. Where that node is gone, it deletes the guard alone; where somebody has deleted the guard, the
	// node with this czxid. *Ack answers it.
	RemoveContest struct {
		Path, Guard string
		Czxid       int64
	}

	// Check is a transaction that changes nothing, and succeeds if the node exists. *Ack answers it.
	Check struct {
		Path string
		// Beat: it is a heartbeat, for the lease, and looks for the node on the way.
		Beat bool
	}
)

func (*Create) query()          {}
func (*CreateAt) query()        {}
func (*SeekReclaimable) query() {}
func (*TakeOver) query()        {}
func (*Commit) query()          {}
func (*List) query()            {}
func (*Watch) query()           {}
func (*WatchChildren) query()   {}
func (*WatchContention) query() {}
func (*ReadOwn) query()         {}
func (*Look) query()            {}
func (*RemoveContest) query()   {}
func (*Check) query()           {}

// NewNode is a node that a Commit is to make. Place is its place among the creates of its lock path
// in the transaction. List: its queue is to be listed behind the transaction.
type NewNode struct {
	Spec  *Spec
	GUID  string // of the attempt
	Place int
	List  bool
}

type (
	// Reclaimable answers SeekReclaimable: the node that is to be taken over, its version and
	// number, and the token to hold with then. Name is empty where there is no such node.
	Reclaimable struct {
		Name    string
		Version int32
		Number  int32
		Token   messages.Token
		Failure
	}

	// Created answers Create, CreateAt and TakeOver.
	Created struct {
		Node Made
		// Info is the path info as of now.
		Info Info
		Failure
	}

	// Committed answers Commit. Made are in the order of the creates. Nothing was done where it failed, unless its outcome is
	// unknown; Failure names the path of the part that was refused.
	Committed struct {
		Made []Made
		Failure
	}

	// Listed answers List and WatchChildren.
	Listed struct{ View }

	// Read answers Watch and ReadOwn.
	Read struct {
		Data    []byte
		Version int32
		Czxid   int64
		// Persistent: no end of a session deletes the node.
		Persistent bool
		Failure
	}

	// Contention answers WatchContention.
	Contention struct {
		Failure // Spent, too
		// Alone: nobody else is in the queue.
		Alone bool
		// Spent: the node is gone, or says that the lock is wanted back, or nobody knows.
		Spent bool
	}

	// Looked answers Look.
	Looked struct {
		Nodes []Seen
		Failure
	}

	// Ack answers RemoveContest and Check.
	Ack struct{ Failure }
)

func (f Failure) failure() Failure { return f }

// Seen is a node of an epoch; of a contest's it is the guard. Czxid is that of a node that was sought; it is zero where a
// guard is left without its node.
type Seen struct {
	Name  string
	Czxid int64
}

// Finds reports whether a child is a node of the epoch, and whether that is sought.
func (q *Look) Finds(child string) (ours, sought bool) {
	of, _, ours := q.Mark.attempt(child)
	return ours, ours && slices.Contains(q.Seek, of)
}

// Made is a node that was made.
type Made struct {
	Name  string
	Czxid int64
	Place int
	// First: nobody can be before it, by how it was made.
	First bool
	// Early is the queue as it was listed behind the create, where it was. It may be of any moment after that, or, over
	// another connection, before.
	Early *View
}

// View is a queue as it was read, with the number of a semaphore's permits.
type View struct {
	Queue   *queue.Listing
	Permits int
	Failure
}

// Info is the path info: it describes a lock path, as far as it is known.
type Info struct {
	Exists bool
	// Permits: a semaphore's number of permits is recorded in its data.
	Permits bool
	// Crowded: when it was listed last it had so many contenders that it is not listed behind a create.
	Crowded bool
}

// A queue of more than crowded contenders is not listed behind a create. Such a listing costs no
// round trip, and says who is first. But a long queue makes it long, and then the new contender is
// seldom first.
const crowded = 16

// Outcome says how much is known of a query. It is the type of package zkconn, too.
type Outcome = outcome.Outcome

// The outcomes: see package outcome.
const (
	Applied  = outcome.Applied
	Refused  = outcome.Refused
	NotSent  = outcome.NotSent
	Unknown  = outcome.Unknown
	Deferred = outcome.Deferred
)

// Cause tells the refusals apart that decisions depend on.
type Cause = outcome.Cause

// The causes: see package outcome.
const (
	NoNode       = outcome.NoNode
	NodeExists   = outcome.NodeExists
	NoAuth       = outcome.NoAuth
	OverQuota    = outcome.OverQuota
	LocalSession = outcome.LocalSession
	// NoPermits: the data of the lock path are no number of permits.
	NoPermits Cause = "no permits"
)

// Failure says why a query has failed; the zero value says that it has not.
type Failure struct {
	Outcome Outcome
	Cause   Cause
	// Path is the path of the part of a transaction that failed.
	Path string
	// Detail is for people.
	Detail string
	// Trouble says, for people, how the servers keep it from being carried out: they hang up on it,
	// or put it off.
	Trouble string
}

// none reports whether there was no failure.
func (f Failure) none() bool { return f.Outcome == Applied }

// is reports whether a server has refused it for this cause.
func (f Failure) is(cause Cause) bool { return f.Outcome == Refused && f.Cause == cause }
