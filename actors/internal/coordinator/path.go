package coordinator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// lockPath has all that the session knows of one lock path in this epoch.
type lockPath struct {
	path     string
	requests int // that use it
	info     Info
	identity identity
	// unwatched counts the hang-ups of the servers on the watch of the lock path, one after the other.
	unwatched int
	lookup    pathLookup
	queues    []*ownQueue
	listing   *listing // under way; nil for none
	// watchers has the requests that wait for events of a node, by its name. The empty name stands
	// for the lock path's own data, and children for the list of its children.
	watchers map[string][]watcher
	look     look
	strays   []string // nodes of this epoch that are being removed, because no request has them
	// idle: it is in epoch.idle.
	idle bool
}

// children stands for the list of children among the watchers of a lock path. No node has that name.
const children = "/"

// identity is the watch on a lock path: while it stands, the path is still the same node.
type identity struct {
	ask     uint64 // that sets the watch; zero for none
	watch   uint64 // the same once it is set, and zero before
	timer   uint64 // of a watch that is set: it is not believed in for ever
	refused bool   // we may not read it
}

// pathLookup is a create that finds out about its lock path on the way.
type pathLookup struct {
	underway bool
	waiting  []change // creates that came meanwhile
}

// look is the look at a lock path.
type look struct {
	ask uint64 // under way; zero for none
	// covered are the requests that it answers, joined those that have asked since, or wait for the next.
	covered, joined []RequestID
	timer           uint64 // of the next
	hangUps         int    // of the servers, one after the other
	// late counts the looks that are to come because creates may be carried out late. due: on this connection nothing was
	// seen yet.
	late int
	due  bool
}

// change is a create or a delete.
type change struct {
	operation
	node string // to be deleted; empty for a create
}

// listing is a listing of one lock path that is under way, with the requests that wait for it. One
// listing serves every request that asked before it was answered and whose node it shows: nodes
// only ever vanish from before a contender, so that an older view never makes it look closer to the
// head than it is. One that still shows the predecessor that went is of no use, though: see serves.
type listing struct {
	ask     uint64
	first   lister
	after   []lister // asked while it was under way
	permits int      // of a semaphore, as its first lister expects it: the data are read as well; zero for other locks
}

// lister is a request that waits for a listing.
type lister struct {
	operation
	ahead bool // it waits already, and only looks ahead
}

// watcher waits for events of a node, or of a list of children.
type watcher struct {
	request RequestID
	role    role
}

// role is the purpose of the events.
type role uint8

const (
	// awaitsNode: the request waits for this node to go or to be written to; as a watcher of a list of
	// children, for any change of the queue.
	awaitsNode role = iota
	// holds: the request holds with the node.
	holds
	// attends: the request holds, and is to be told of other contenders.
	attends
)

// at gives the path of a node.
func (p *lockPath) at(name string) string {
	if name == "" {
		return p.path
	}
	return p.path + "/" + name
}

// split takes the path of a node apart.
func split(path string) (parent, name string) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path
	}
	return path[:at], path[at+1:]
}

// inUse reports whether a lock path that no request uses still has watchers, nodes or changes.
func (p *lockPath) inUse() bool {
	return len(p.watchers) > 0 || p.lookup.underway || p.look.late > 0 || p.look.ask != 0 || len(p.strays) > 0 ||
		slices.ContainsFunc(p.queues, func(q *ownQueue) bool {
			return len(q.nodes) > 0 || len(q.burst.creates)+len(q.burst.deletes) > 0
		})
}

// noteSize notes whether a lock path is crowded.
func (p *lockPath) noteSize(view *View) {
	if view.Failure.none() {
		p.info.Crowded = view.Queue.Len() > crowded
	}
}

// watch registers a watcher of a node.
func (p *lockPath) watch(name string, w watcher) {
	p.watchers[name] = append(p.watchers[name], w)
}

// unwatch takes a watcher off a node.
func (p *lockPath) unwatch(name string, w watcher) {
	all := p.watchers[name]
	switch at := slices.Index(all, w); {
	case at < 0:
	case len(all) == 1:
		delete(p.watchers, name)
	default:
		p.watchers[name] = slices.Delete(slices.Clone(all), at, at+1)
	}
}

// take empties the list of a node's watchers, because a watch tells once.
func (p *lockPath) take(name string) []watcher {
	all := p.watchers[name]
	delete(p.watchers, name)
	return all
}

// ownQueue is one of the queues of a lock path, or a contest.
type ownQueue struct {
	path *lockPath
	name string
	one  string // of a contest: the name of its one node
	// nodes has the nodes of this session, in the order of their numbers; the node before another
	// stands to its left.
	nodes []*node
	burst burst
	// waiting counts the requests that wait with a node, or are about to make one: see room.go.
	waiting int
	// succession is the evidence that this session locks alone.
	succession succession
}

// succession is the last node of this session that nobody was before.
type succession struct {
	number int32
	streak uint8  // the count of nodes with successive numbers up to this one; zero: nothing is known
	under  uint64 // the watch under which it was created; zero where none stood
}

// burst is the state of the burst of a queue: see burst.go.
type burst struct {
	phase burstPhase
	// remote counts the requests that wait for a node of another session.
	remote int
	// creates are delayed until timer fires, and deletes until deleteTimer does.
	creates, deletes   []change
	timer, deleteTimer uint64
	// departed counts the nodes that have gone in this burst, returned the creates that have come in it.
	departed, returned int
}

// burstPhase is the phase of a burst, in which nodes of the session hold one after the other.
type burstPhase uint8

const (
	noBurst burstPhase = iota
	// unmet: the lock was handed on within the session, and no other session was met.
	unmet
	// running: the requests of the session that waited for another session wait for it no more.
	running
	// burstOver: since then, the last node of this session has left the queue.
	burstOver
)

// queueNamed gives the queue of a name, or the contest for one node; nil where it is not in use.
func (p *lockPath) queueNamed(name, one string) *ownQueue {
	if p != nil {
		for _, q := range p.queues {
			if q.name == name && q.one == one {
				return q
			}
		}
	}
	return nil
}

// findNode gives the node of this session with a name, in whichever queue.
func (p *lockPath) findNode(name string) (*ownQueue, *node) {
	if p != nil { // else no request uses it any more
		for _, q := range p.queues {
			if n := q.find(name); n != nil {
				return q, n
			}
		}
	}
	return nil, nil
}

// indexOf gives the index at which a node is in the queue, or would be.
func (q *ownQueue) indexOf(n *node) (int, bool) {
	return slices.BinarySearchFunc(q.nodes, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
}

// has reports whether a node is in the queue, where its number puts it.
func (q *ownQueue) has(n *node) bool {
	at, there := q.indexOf(n)
	return there && q.nodes[at] == n
}

// remove takes a node out of the queue.
func (q *ownQueue) remove(n *node) {
	switch at, there := q.indexOf(n); {
	case !there:
	case at == 0: // most often, and there may be a hundred thousand
		q.nodes[0] = nil
		q.nodes = q.nodes[1:]
	default:
		q.nodes = slices.Delete(q.nodes, at, at+1)
	}
}

// find gives the node of this session with a name, nil where it is another's.
func (q *ownQueue) find(name string) *node {
	if q.one != "" {
		if len(q.nodes) > 0 && name == q.one {
			return q.nodes[0]
		}
		return nil
	}
	number, ok := queue.Sequence(name)
	if !ok {
		return nil
	}
	if at, there := q.indexOf(&node{number: number, name: name}); there {
		return q.nodes[at]
	}
	return nil
}

// isPast reports whether a node of a contest is gone, by its czxid: another request of this session has made it since.
func (q *ownQueue) isPast(czxid int64) bool {
	return q.one != "" && len(q.nodes) > 0 && czxid < q.nodes[0].token.Zxid()
}

// neighbour gives the node of this session right before another one: their numbers follow each other, so that nobody
// can come between. It is nil where no such node exists.
func (q *ownQueue) neighbour(n *node) *node {
	if at, there := q.indexOf(n); there && at > 0 && q.nodes[at-1].number+1 == n.number {
		return q.nodes[at-1]
	}
	return nil
}
