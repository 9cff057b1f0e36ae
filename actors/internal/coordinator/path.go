package coordinator

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// lockPath is what the session knows of one lock path in this epoch.
type lockPath struct {
	path     string
	requests int // that have not been forgotten
	info     Info
	probe    probe
	queues   []*ownQueue
	listing  *listing // under way; nil for none
	// watchers are those who wait for news of a node, by its name; of the lock path's own data, under the empty name.
	watchers map[string][]watcher
	// children are those who wait for news of the list of children.
	children []watcher
	// listed: it is among those that no request may use; used: it was in use since it was looked at there.
	listed, used bool
}

// probe is a create that finds out about its lock path on the way.
type probe struct {
	underway bool
	waiting  []change // creates that came meanwhile
}

// ownQueue is one of the queues of a lock path, or a contest.
type ownQueue struct {
	path *lockPath
	name string
	one  string // of a contest: the name of its one node
	// nodes are those of this session, in the order of their numbers; the one before a node stands to its left.
	nodes []*node
	// newest is the czxid of the newest node of a contest that is known to be, or to have been, a request's of this session.
	newest int64
	// members are the requests that take part in a contest.
	members []RequestID
	// owners are the requests that want this lock and are not about to leave, by their owner.
	owners   map[string][]RequestID
	row      row
	retained *retention // nil where no node is
}

// knownPaths bounds the lock paths that are remembered though no request uses them.
const knownPaths = 4096

// pathOf finds a lock path, or makes it.
func (e *epoch) pathOf(path string) *lockPath {
	p := e.paths[path]
	if p == nil {
		p = &lockPath{path: path, watchers: map[string][]watcher{}}
		e.paths[path] = p
	}
	return p
}

// leavePath notes that a request is gone. What is known of a path that is not in use is kept for a while. Of too many, one
// goes that was not used since it was last looked at.
func (e *epoch) leavePath(p *lockPath) {
	if p.requests--; p.requests > 0 || p.inUse() {
		return
	}
	p.used = true
	if len(p.queues) > 1 { // a program may name its queues anew each time
		p.queues = p.queues[:1:1]
	}
	if !p.listed {
		p.listed = true
		e.unused = append(e.unused, p.path)
	}
	for len(e.unused) > knownPaths {
		oldest := e.paths[e.unused[0]]
		e.unused = e.unused[1:]
		switch {
		case oldest.requests > 0 || oldest.inUse():
			oldest.listed = false
		case oldest.used:
			oldest.used = false
			e.unused = append(e.unused, oldest.path)
		default:
			delete(e.paths, oldest.path)
		}
	}
}

// inUse tells whether there is anything of a lock path that no request uses.
func (p *lockPath) inUse() bool {
	return len(p.watchers) > 0 || len(p.children) > 0 || p.probe.underway || slices.ContainsFunc(p.queues, func(q *ownQueue) bool {
		return len(q.nodes) > 0 || q.retained != nil || len(q.row.creates)+len(q.row.deletes) > 0
	})
}

// queueOf finds the queue of a request, or makes it.
func (p *lockPath) queueOf(sp *Spec) *ownQueue {
	for _, q := range p.queues {
		if q.name == sp.Style.Name && q.one == sp.One {
			return q
		}
	}
	q := &ownQueue{path: p, name: sp.Style.Name, one: sp.One, owners: map[string][]RequestID{}}
	p.queues = append(p.queues, q)
	return q
}

// at gives the path of a node.
func (p *lockPath) at(name string) string {
	if name == "" {
		return p.path
	}
	return p.path + "/" + name
}

// place gives where a node of the queue is or would be.
func (q *ownQueue) place(n *node) (int, bool) {
	return slices.BinarySearchFunc(q.nodes, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
}

// has tells whether a node is in the queue, in its place.
func (q *ownQueue) has(n *node) bool {
	at, there := q.place(n)
	return there && q.nodes[at] == n
}

func (q *ownQueue) insert(n *node) {
	at, _ := q.place(n)
	q.nodes = slices.Insert(q.nodes, at, n)
}

// take takes a node out of the queue.
func (q *ownQueue) take(n *node) {
	switch at, there := q.place(n); {
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
	if at, there := q.place(&node{number: number, name: name}); there {
		return q.nodes[at]
	}
	return nil
}

// findNode gives the node of this session with a name, in whichever queue.
func (p *lockPath) findNode(name string) (*ownQueue, *node) {
	if p == nil { // no request uses it any more
		return nil, nil
	}
	for _, q := range p.queues {
		if n := q.find(name); n != nil {
			return q, n
		}
	}
	return nil, nil
}

// rightBefore gives the name of the node that stands right before a new one of ours, where it is ours too and the new one
// waits for nobody else: their numbers follow each other, so that nobody can come between.
func (q *ownQueue) rightBefore(r *request) string {
	at, there := q.place(r.node)
	if !there || at == 0 || !r.kind.waitsFor(r, q.nodes[at-1]) {
		return ""
	}
	if left := q.nodes[at-1]; left.number+1 == r.node.number {
		return left.name
	}
	return ""
}

// token makes the token of a node that was made or found.
func (n *node) tokenOf(r *request, czxid int64) (messages.Token, error) {
	token, err := messages.NewToken(czxid, n.place)
	if r.inherited != 0 {
		token = r.inherited
	}
	return token, err
}

// Unused tells whether nobody holds or waits any more with a node, which is one of this session.
func (c *Coordinator) Unused(path, name string) bool {
	p := c.epoch.paths[path]
	if p == nil {
		return true
	}
	_, n := p.findNode(name)
	return n == nil || n.phase != present || c.requests[n.users[0]].life == ended
}

// Nodes tells the names of the nodes of this session, as far as they are known.
func (c *Coordinator) Nodes(yield func(name string) bool) {
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				if !yield(n.name) {
					return
				}
			}
		}
	}
}

// Retains tells whether a node is retained.
func (c *Coordinator) Retains(path, name string) bool {
	p := c.epoch.paths[path]
	if p == nil {
		return false
	}
	_, n := p.findNode(name)
	return n != nil && n.phase == retained
}
