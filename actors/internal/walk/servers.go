package walk

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// lockPath is the one lock path; oneName the name of a contest's node in it.
const (
	lockPath = "/l"
	oneName  = "one"
)

// servers are one lock path with its nodes, their owners, the watches of each connection, the sequence counter and the number
// of the newest transaction. The end of a session takes two steps, as in ZooKeeper: it is refused first, and its nodes are
// deleted later (CURATOR-604).
type servers struct {
	nodes    []node // in the order of the queue
	sequence int32
	zxid     int64
	permits  int // as recorded
	// children and data are the connections that watch the list of children, and the data of the lock path.
	children, data [maxSessions]bool
}

// node is a contender's node.
type node struct {
	name    string
	guid    string
	session int
	epoch   uint64
	czxid   int64
	version int32
	wanted  bool // its data say that somebody wants the lock
	doomed  bool // its session is over
	watched [maxSessions]bool
}

// at gives the place of a node, -1 when there is none.
func (z *servers) at(name string) int {
	return slices.IndexFunc(z.nodes, func(n node) bool { return n.name == name })
}

// base is the name in a path below the lock path; empty for that itself.
func base(path string) string {
	if len(path) <= len(lockPath) {
		return ""
	}
	return path[len(lockPath)+1:]
}

// shown lists the names that the server of a session shows.
func (w *world) shown(s int) (names []string) {
	for _, n := range w.servers.nodes {
		if sess := &w.sessions[s]; !sess.lagging || n.czxid <= sess.seen {
			names = append(names, n.name)
		}
	}
	return names
}

// make makes a node.
func (w *world) makeNode(s int, sp *coordinator.Spec, name string) coordinator.Made {
	z := &w.servers
	if name == "" {
		name = sp.One
	}
	if name == "" {
		name = fmt.Sprintf("%s%010d", sp.Style.Prefix(sp.GUID), z.sequence)
		z.sequence++
	}
	n := node{name: name, guid: sp.GUID, session: s, epoch: w.epoch(s), czxid: z.zxid}
	place, _ := slices.BinarySearchFunc(z.nodes, n, compareNodes)
	z.nodes = slices.Insert(slices.Clone(z.nodes), place, n)
	a := &w.actors[actorOf(sp.GUID)]
	a.broken, a.handed = false, false
	czxid := n.czxid
	if w.mistake(TokenBySequence) {
		number, _ := queue.Sequence(name)
		czxid = int64(number) + 1
	}
	return coordinator.Made{Name: name, Czxid: czxid, Siblings: len(z.nodes), Together: 1}
}

// compareNodes orders nodes as their queue does.
func compareNodes(a, b node) int {
	x, _ := queue.Parse(a.name)
	y, _ := queue.Parse(b.name)
	if x.Sequence != y.Sequence {
		return int(x.Sequence) - int(y.Sequence)
	}
	return reads(x) - reads(y)
}

func reads(e queue.Entry) int {
	if e.Mode == messages.Read {
		return 1
	}
	return 0
}

// deleteNode deletes a node, and fires its watches. What a server sends is lost with its connection, and reaches a client in
// the order in which it was sent.
func (w *world) deleteNode(name string) bool {
	at := w.servers.at(name)
	if at < 0 {
		return false
	}
	n := w.servers.nodes[at]
	w.servers.nodes = but(w.servers.nodes, at)
	for s := range w.sessions {
		if n.watched[s] {
			w.event(s, coordinator.Changed{Path: lockPath + "/" + name, Change: coordinator.NodeDeleted})
		}
	}
	w.childrenChanged()
	return true
}

// event puts an event on the wire of a session.
func (w *world) event(s int, in coordinator.Input) {
	w.sessions[s].wire = with(w.sessions[s].wire, in)
}

// childrenChanged fires the watches on the list. A server that lags says so when it has caught up.
func (w *world) childrenChanged() {
	for s := range w.sessions {
		if w.servers.children[s] && !w.sessions[s].lagging {
			w.servers.children[s] = false
			w.event(s, coordinator.Changed{Path: lockPath, Change: coordinator.ChildrenChanged})
		}
	}
}

// write writes to a node: who watches its data hears of it.
func (w *world) write(at int, change func(*node)) {
	n := w.servers.nodes[at]
	n.version = min(n.version+1, 1) // whether it was written to is all that counts
	change(&n)
	for s := range w.sessions {
		if n.watched[s] {
			n.watched[s] = false
			w.event(s, coordinator.Changed{Path: lockPath + "/" + n.name, Change: coordinator.DataChanged})
		}
	}
	w.servers.nodes = replace(w.servers.nodes, at, n)
}

// catchUp: the server behind a connection lags no more.
func (w *world) catchUp(s int) {
	sess := &w.sessions[s]
	behind := sess.lagging && sess.seen < w.servers.zxid
	sess.lagging = false
	if behind {
		w.childrenChanged()
	}
}

// unwatch: the watches of a connection are gone.
func (w *world) unwatch(s int) {
	w.servers.children[s], w.servers.data[s] = false, false
	nodes := slices.Clone(w.servers.nodes)
	for i := range nodes {
		nodes[i].watched[s] = false
	}
	w.servers.nodes = nodes
}
