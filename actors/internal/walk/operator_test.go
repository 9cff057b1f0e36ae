package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// Actions of an operator and of other clients. Each is a move of the servers.

// ofServers are these moves. how is the place of a node.
var ofServers = []kind{
	{text: "deletes", of: nodeName, bound: Breaks, can: nodes(isKept), do: breakNode},
	{text: "restores the node of a request that has ended:", of: number, bound: Returns, can: canReturn, do: (*world).bringBack},
	{text: "wants the lock of", of: nodeName, bound: Asks, can: nodes(isUnwanted), do: want},
	{text: "deletes the empty lock path", bound: Reaps, can: canReap, do: reap},
	{text: "sets another number of permits", bound: Resizes, can: canResize, do: resize},
	{text: "lets another client make a node and delete it", bound: Passes, can: canPass, do: pass},
	{text: "waits for the end of the earlier process's session", class: itself, can: hasLeft, do: one((*world).endEarlier)},
}

func isKept(n *node) bool     { return !n.doomed && !n.forsaken }
func isUnwanted(n *node) bool { return isKept(n) && !n.wanted }

// breakNode deletes a node. That takes the lock from a request that holds with it, from one that is
// about to hear that it may reuse it, and from one to which the lock was handed over while that
// node existed.
func breakNode(w *world, _, at int) {
	n := w.servers.nodes[at]
	checked := w.sessions[n.session].where(func(f *flight) bool {
		q, is := f.query.(*coordinator.Check)
		return is && f.applied && base(q.Path) == n.name
	})
	for i, of := range w.plan.Sessions {
		a := &w.actors[i]
		reuses := checked != 0 && of == n.session && a.m.State == messages.StateCreating ||
			slices.ContainsFunc(a.inbox, func(told envelope) bool { return told.event.Node == n.name })
		if a.m.Node == n.name || n.id == idOf(i) || reuses {
			a.is.put(broken, true)
		}
		if of == n.session {
			a.is.put(handed, false)
		}
	}
	if n.guard != "" {
		w.servers.guards = with(w.servers.guards, guard{n.guard, n.czxid, n.session, n.epoch})
	}
	w.deleteNode(n.name)
}

// canReturn gives the requests whose nodes may come back: their sessions live, and know nothing of them. A request of the
// session is still to come, which will meet the node. A session that asks for no more keeps others out with it.
func canReturn(w *world, _ int) (all ways) {
	for i, of := range w.plan.Sessions {
		later := false
		for j, other := range w.plan.Sessions {
			later = later || other == of && w.actors[j].life == unasked
		}
		if !later {
			continue
		}
		a, s := &w.actors[i], w.sessionOf(i)
		all |= once(a.life == stopped && a.m.Node != "" && !s.closed && s.served == alive && a.m.Token.Zxid() > 0 &&
			a.epoch == w.epoch(w.plan.Sessions[i]) && w.servers.at(a.m.Node) < 0 && !s.decides.Knows(coordinator.RequestID(i+1))) << i
	}
	return all
}

// bringBack: servers that are restored bring back the node of a request that has ended.
func (w *world) bringBack(_, i int) {
	a := &w.actors[i]
	w.insert(node{name: a.m.Node, id: idOf(i), session: w.plan.Sessions[i], epoch: a.epoch, czxid: a.m.Token.Zxid(), back: true})
}

func want(w *world, _, at int) { w.write(at, true) }

func canReap(w *world, _ int) ways {
	lags := slices.ContainsFunc(w.sessions[:], func(s session) bool { return s.link == lagging })
	return once(len(w.servers.nodes) == 0 && w.servers.sequence != [maxPaths]int32{} && !lags)
}

// reap deletes the lock paths, of which those are told who watch them.
func reap(w *world, _, _ int) {
	for path := range lockPaths {
		for s := range w.sessions {
			if w.servers.data[path][s] {
				w.servers.data[path][s] = false
				w.event(s, coordinator.Changed{Path: lockPaths[path], Change: coordinator.NodeDeleted})
			}
		}
	}
	w.servers.sequence, w.servers.permits = [maxPaths]int32{}, 0
}

func canResize(w *world, _ int) ways { return once(w.servers.permits > 0) }

// resize sets the number of permits to two, or where it is two, to one.
func resize(w *world, _, _ int) {
	z := &w.servers
	z.permits = 3 - z.permits
	z.nodes = slices.Clone(z.nodes)
	for i := range z.nodes {
		z.nodes[i].most = max(z.nodes[i].most, z.permits)
	}
	for s := range w.sessions {
		if z.data[0][s] {
			z.data[0][s] = false
			w.event(s, coordinator.Changed{Path: lockPaths[0], Change: coordinator.DataChanged})
		}
	}
}

func canPass(w *world, _ int) ways { return once(w.servers.sequence[0] > 0) }

// pass: another client makes a node in the first lock path and deletes it, before anybody looks.
// Only the number stays taken. So the sessions of a plan need not make all the nodes that a history
// takes.
func pass(w *world, _, _ int) {
	w.servers.zxid++
	w.servers.sequence[0]++
	w.childrenChanged(0)
}

func hasLeft(w *world, _ int) ways {
	return once(len(w.nodesWhere(0, isEarlier)) > 0)
}

func nodeName(w *world, _, at int) string { return w.servers.nodes[at].name }
