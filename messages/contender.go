package messages

import "time"

// Library is the client library that made a contender's node: a guess from its name and its data.
type Library string

const (
	// LibraryUnknown: the name and the data do not tell.
	LibraryUnknown Library = ""
	// LibraryTurnstile writes JSON into its nodes, whatever their names.
	LibraryTurnstile Library = "turnstile"
	// LibraryCurator has names like _c_<uuid>-lock-0000000001, and other data.
	LibraryCurator Library = "curator"
	// LibraryGoZookeeper has names like _c_<32 hexadecimal digits>-lock-0000000001.
	LibraryGoZookeeper Library = "go-zookeeper"
	// LibraryKazoo has names like <guid>__lock__0000000001 and <guid>__rlock__0000000001.
	LibraryKazoo Library = "kazoo"
	// LibraryRecipe has names like those in ZooKeeper's documentation: lock-, read-, write-.
	LibraryRecipe Library = "recipe"
)

// Contender is one contender's node, as other processes see it.
type Contender struct {
	// Path is the lock path; Node the name of the contender's node: that of a contest is the lock
	// path's last element.
	Path, Node string
	Mode       Mode
	// Name tells the queues of one lock path apart: see Acquire.Name.
	Name string
	// Sequence is the number that the server gave the node; zero in contests.
	Sequence int32
	// Weight is the number of permits that a semaphore's contender takes.
	Weight int
	// Session is the ZooKeeper session whose end deletes the node; zero where Unread and the
	// servers do not tell.
	Session int64
	// Token is the fencing token of the node's first grant, as far as the node tells it, for
	// people: a resource is given the lease's token. The holder's own may be another: greater where
	// a client has passed the node on among its calls, the writer's after a downgrade, the next
	// after a reclaimed one. Where Asked or Unread, it may be up to MaxPlace too small. Zero where
	// the czxid does not fit, or is not known.
	Token Token

	// Holds: it has the lock, as far as the queue tells. WaitsFor names the nodes whose end may let
	// a waiter in: its predecessor, or all holders before the first waiter of a semaphore.
	Holds    bool
	WaitsFor []string

	// MayHold: it waits by the rule of this queue, and may hold by its own library's. kazoo's locks
	// see only kazoo's names, unless told of others (extra_lock_patterns), and hold beside a holder
	// with another name.
	MayHold bool

	Library Library
	// Asked: somebody has asked for the lock by writing to the node. Where another library asked,
	// or the node is another library's or a contest's, that has overwritten its data. A living
	// holder of Turnstile's writes them again.
	Asked bool
	// Unread: its data may not be read. The fields below then have all else that is known. From
	// 3.8.4 and 3.9.2 on, Session, Token and Since are zero, too.
	Unread bool
	// Host and PID are the owner's machine and process, Actor the address of the actor that asked;
	// Owner, Caller and Label are those of its Acquire. They are empty where the node is another
	// library's.
	Host                        string
	PID                         int
	Actor, Owner, Caller, Label string
	// Priority is Acquire.Priority of its request.
	Priority int
	// Since is the time of the request, by the owner's clock, or else that of the node's creation,
	// by the server's clock; zero where Unread and the servers do not tell.
	Since time.Time
	// Who names the caller that is blocked while the contender waits: Caller, or Owner, or the
	// actor; "" where that is not known.
	Who string
	// Detects: the request looks for deadlocks while it waits, and gives up when it is the youngest
	// in one.
	Detects bool

	// ID names a request or a call of the session that answers: in Inside, and in a deadlock of
	// calls that share a node. A contender without a Node has no Token and no Sequence; in a
	// deadlock it waits behind WaitsFor.
	ID string
}

// HasNode reports whether the contender has a node; a request that waits inside its session has
// none (Inside).
func (c Contender) HasNode() bool { return c.Node != "" }

// At is the path of the contender's node, or the lock path.
func (c Contender) At() string {
	if c.Mode == Contest || !c.HasNode() {
		return c.Path
	}
	return c.Path + "/" + c.Node
}
