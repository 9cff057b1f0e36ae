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
	// LibraryNone: the node is persistent. No lock made it, and it stands in the way until somebody
	// deletes it.
	LibraryNone Library = "no lock, a persistent node"
)

// Contender is one contender's node, as other processes see it.
type Contender struct {
	// Path is the lock path, Node the name of the contender's node (in a contest, the last element
	// of Path).
	Path, Node string
	Mode       Mode
	// Name tells the queues of one lock path apart: see Acquire.Name.
	Name string
	// Sequence is the number that the server gave the node; zero in contests.
	Sequence int32
	// Weight is the number of permits that a semaphore's contender takes.
	Weight int
	// Session is the ZooKeeper session whose end deletes the node; zero where it is unknown
	// (Unread).
	Session int64
	// Token is the fencing token of the node's first grant, for people to read: resources are given
	// the lease's token, which may differ. It is greater where a client has passed the node on
	// among its calls, the writer's after a downgrade, the next after a reclaim. Where Asked or
	// Unread, it may be up to MaxPlace too small. Zero where the czxid is unknown or does not fit.
	Token Token

	// Holds: it has the lock by the rule of the queue. WaitsFor names the nodes whose end may let
	// it in: its predecessor, or all holders before the first waiter of a semaphore.
	Holds    bool
	WaitsFor []string

	// MayHold: it waits by our rule, and may hold by its own library's. kazoo's locks see only
	// kazoo's names, unless told of others (extra_lock_patterns), and hold beside others.
	MayHold bool

	Library Library
	// Asked: a revoke request was written to the node. It overwrote the data where another library
	// asked, or the node is another library's or a contest's; a living holder of Turnstile's writes
	// them again.
	Asked bool
	// Unread: its data may not be read; the fields below hold what else is known. From 3.8.4 and
	// 3.9.2 on, Session, Token and Since are zero, too.
	Unread bool
	// Host and PID are the owner's machine and process, Actor the address of its actor; Owner,
	// Caller and Label are those of its Acquire. Empty for other libraries.
	Host                        string
	PID                         int
	Actor, Owner, Caller, Label string
	// Priority is Acquire.Priority of its request.
	Priority int
	// Since is when it asked, by the owner's clock, or else when the node was created, by the
	// server's; zero where unknown (Unread).
	Since time.Time
	// Who names the caller that is blocked while the contender waits: Caller, or else Owner, or
	// else the actor; "" where unknown.
	Who string
	// Detects: the request looks for deadlocks: see Acquire.Deadlocks.
	Detects bool

	// ID names a request or call of the answering session: in Inside, and in deadlocks of calls
	// that share a node. A contender without a Node has no Token and no Sequence; in a deadlock it
	// waits behind WaitsFor.
	ID string
}

// HasNode is false for a request that waits inside its session: see Inside.
func (c Contender) HasNode() bool { return c.Node != "" }

// At is the path of the contender's node, or the lock path.
func (c Contender) At() string {
	if c.Mode == Contest || !c.HasNode() {
		return c.Path
	}
	return c.Path + "/" + c.Node
}
