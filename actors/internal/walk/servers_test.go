package walk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// The nodes of the lock paths, and the watches on them.

// shown lists the names that the server of a session shows in a lock path.
func (w *world) shown(s, path int) []string {
	names := make([]string, 0, len(w.servers.nodes))
	for i := range w.servers.nodes {
		n, sess := &w.servers.nodes[i], &w.sessions[s]
		if n.path == path && (sess.link != lagging || n.czxid <= sess.seen) {
			names = append(names, n.name)
		}
	}
	return names
}

// makeNode makes a node.
func (w *world) makeNode(s int, sp *coordinator.Spec, guid, name string) coordinator.Made {
	z, path := &w.servers, pathIn(sp.Path)
	if name == "" {
		name = sp.One
	}
	if name == "" {
		name = fmt.Sprintf("%s%010d", sp.Style.Prefix(guid), z.sequence[path])
	}
	if sp.One == "" {
		z.sequence[path]++ // for any name
	}
	n := node{name: name, path: path, id: sp.ID, session: s, epoch: w.epoch(s), czxid: z.zxid, most: z.permits}
	if sp.One != "" {
		n.guard = sp.Guard(guid)
	}
	w.insert(n)
	for i := range w.plan.Sessions {
		if w.specs[i].ID == sp.ID {
			w.actors[i].is.put(broken|handed, false)
		}
	}
	return coordinator.Made{Name: name, Czxid: n.czxid}
}

// insert puts a node into its place.
func (w *world) insert(n node) {
	place, _ := slices.BinarySearchFunc(w.servers.nodes, n, compareNodes)
	w.servers.nodes = slices.Insert(slices.Clone(w.servers.nodes), place, n)
}

// compareNodes orders nodes as their queue does: a reader at a writer's number comes behind the writer.
func compareNodes(a, b node) int {
	x, _ := queue.Parse(a.name)
	y, _ := queue.Parse(b.name)
	reads := func(e queue.Entry) int {
		if e.Mode == messages.Read {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(x.Sequence, y.Sequence), reads(x)-reads(y))
}

// deleteNode deletes a node, and fires its watches. A server's messages are lost with the connection, and reach a
// client in the order in which they were sent.
func (w *world) deleteNode(name string) {
	at := w.servers.at(name)
	if at < 0 {
		return
	}
	n := w.servers.nodes[at]
	w.servers.nodes = but(w.servers.nodes, at)
	w.fire(&n, coordinator.NodeDeleted)
	w.childrenChanged(n.path)
}

// write writes to a node.
func (w *world) write(at int, wanted bool) {
	n := w.servers.nodes[at]
	n.version = 1 // whether it was written to is all that counts
	n.wanted = n.wanted || wanted
	w.fire(&n, coordinator.DataChanged)
	n.watched = [maxSessions]bool{}
	w.servers.nodes = replace(w.servers.nodes, at, n)
}

// fire tells the sessions that watch a node of its change.
func (w *world) fire(n *node, change coordinator.Change) {
	for s, watched := range n.watched {
		if watched {
			w.event(s, coordinator.Changed{Path: lockPaths[n.path] + "/" + n.name, Change: change})
		}
	}
}

// childrenChanged fires the watches on the list. A server that lags says so when it has caught up.
func (w *world) childrenChanged(path int) {
	for s := range w.sessions {
		if w.servers.children[path][s] && w.sessions[s].link != lagging {
			w.servers.children[path][s] = false
			w.event(s, coordinator.Changed{Path: lockPaths[path], Change: coordinator.ChildrenChanged})
		}
	}
}

// event puts an event on the wire of a session.
func (w *world) event(s int, in coordinator.Input) {
	w.sessions[s].wire = with(w.sessions[s].wire, in)
}

// catchUp: the server behind a connection lags no more.
func (w *world) catchUp(s int) {
	sess := &w.sessions[s]
	if sess.link != lagging {
		return
	}
	sess.link = linked
	if sess.seen < w.servers.zxid {
		for path := range lockPaths {
			w.childrenChanged(path)
		}
	}
}

// unwatch: the watches of a connection are gone.
func (w *world) unwatch(s int) {
	for path := range lockPaths {
		w.servers.children[path][s], w.servers.data[path][s] = false, false
	}
	w.servers.nodes = slices.Clone(w.servers.nodes)
	for i := range w.servers.nodes {
		w.servers.nodes[i].watched[s] = false
	}
}

// sweep removes the watches that the coordinators do not want. A read whose watch is wanted comes later than the removal,
// because it is sent later.
func (w *world) sweep() {
	z := &w.servers
	z.nodes = slices.Clone(z.nodes)
	for s := range w.sessions {
		awaits := w.sessions[s].decides.Awaits
		for path, at := range lockPaths {
			z.children[path][s] = z.children[path][s] && awaits(at, true)
			z.data[path][s] = z.data[path][s] && awaits(at, false)
		}
		for i := range z.nodes {
			n := &z.nodes[i]
			n.watched[s] = n.watched[s] && awaits(lockPaths[n.path]+"/"+n.name, false)
		}
	}
}

// deleteOwn deletes a node for its session.
func (w *world) deleteOwn(name string) {
	w.checkDelete(name)
	w.deleteNode(name)
}
