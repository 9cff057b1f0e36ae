package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// How the servers end sessions: those of the plan; those that their clients have given up; and that of an earlier
// process, which held with a node that is still there when the walk begins.

// earlier is the epoch of the node that an earlier process has left; those of sessions begin with 1.
const earlier = 0

// leave begins with the node of the earlier process, where a request is to take it back.
func (w *world) leave() {
	if !slices.Contains(w.plan.Reclaim[:], true) {
		return
	}
	left := coordinator.NewSpec(&messages.Acquire{Path: lockPath, Reclaim: "key"}, "left", "", w.specs[0].Since)
	z := &w.servers
	z.zxid, z.sequence[0] = 1, 1
	z.nodes = []node{{name: left.Style.Prefix(queue.Reclaimable+"left") + "0000000000", id: "left", epoch: earlier, czxid: z.zxid}}
	w.newest[0], _ = messages.NewToken(z.zxid, 0)
}

// endEarlier: the servers end the session of the earlier process.
func (w *world) endEarlier(int) {
	for _, n := range w.nodesWhere(0, isEarlier) {
		w.deleteNode(n.name)
	}
}

func isEarlier(n *node) bool  { return n.epoch == earlier }
func isDoomed(n *node) bool   { return n.doomed }
func isForsaken(n *node) bool { return n.forsaken }

// nodesWhere gives some of the nodes of a session.
func (w *world) nodesWhere(s int, is func(*node) bool) (all []node) {
	for i := range w.servers.nodes {
		if n := &w.servers.nodes[i]; n.session == s && is(n) {
			all = append(all, *n)
		}
	}
	return all
}

// end: the servers end a session. The transaction that deletes its nodes comes later, because they refuse to take the
// session up again before it does (CURATOR-604).
func (w *world) end(s int) {
	if w.sessions[s].served == alive {
		w.sessions[s].served, w.sessions[s].outlive = ended, nil
	}
	w.unwatch(s)
	for i := range w.servers.nodes {
		if n := &w.servers.nodes[i]; n.session == s && n.epoch <= w.epoch(s) && n.epoch != earlier && !n.forsaken {
			n.doomed = true
		}
	}
}

// bury deletes the nodes of a session that is over.
func (w *world) bury(s int) {
	for _, n := range w.nodesWhere(s, isDoomed) {
		w.deleteNode(n.name)
	}
}

// forsake: the client has given up a session on which no lease may rest any more. It lives on at the servers, with its
// nodes and what it had sent, until they end it. The requests make other nodes in the next epoch.
func (w *world) forsake(s int) {
	w.unwatch(s)
	sess := &w.sessions[s]
	sess.sent = with(sess.sent, sess.outlive...)
	for i := range sess.flights {
		if f := &sess.flights[i]; sess.link != unlinked && !f.applied && f.stage == 0 && changes(f.query) {
			sess.sent = with(sess.sent, sent{f.query, w.epoch(s) - 1})
		}
	}
	for i := range w.servers.nodes {
		if n := &w.servers.nodes[i]; n.session == s && n.epoch != earlier && !n.doomed {
			n.forsaken = true
		}
	}
}

// changes reports whether a query makes or deletes nodes.
func changes(query coordinator.Query) bool {
	switch query.(type) {
	case *coordinator.Create, *coordinator.CreateAt, *coordinator.TakeOver, *coordinator.Commit, *coordinator.RemoveContest:
		return true
	}
	return false
}

// serveLate: the servers carry out what a session had sent before it was given up. Nobody hears the answer.
func (w *world) serveLate(s, at int) {
	late := w.sessions[s].sent[at]
	w.sessions[s].sent = but(w.sessions[s].sent, at)
	w.carryOut(s, late.query, func(n *node) { n.epoch, n.forsaken = late.epoch, true })
}

// carryOut carries out a query whose answer nobody hears, and marks the nodes that it makes.
func (w *world) carryOut(s int, query coordinator.Query, mark func(*node)) {
	makeNode := func(sp *coordinator.Spec, guid, name string) {
		w.servers.zxid++
		at := w.servers.at(w.makeNode(s, sp, guid, name).Name)
		mark(&w.servers.nodes[at]) // a copy since it was made
		w.childrenChanged(w.servers.nodes[at].path)
	}
	switch q := query.(type) {
	case *coordinator.Create:
		if q.Spec.One != "" && w.servers.at(q.Spec.One) >= 0 {
			return
		}
		makeNode(q.Spec, q.GUID, "")
	case *coordinator.RemoveContest: // one transaction with the guard
		if at := w.servers.at(oneName); at >= 0 && w.servers.nodes[at].guard == base(q.Guard) {
			w.deleteOwn(oneName)
		}
	case *coordinator.CreateAt:
		if w.servers.at(q.Name) < 0 && (q.Beside == "" || w.servers.at(q.Beside) >= 0) {
			makeNode(q.Spec, "", q.Name)
		}
	case *coordinator.TakeOver:
		if at := w.servers.at(q.From.Name); at >= 0 && w.servers.nodes[at].version == q.From.Version && w.servers.at(q.Name) < 0 {
			w.deleteNode(q.From.Name)
			makeNode(q.Spec, "", q.Name)
		}
	case *coordinator.Commit:
		for _, path := range slices.Concat(q.Exist, q.Deletes) {
			if w.servers.at(base(path)) < 0 {
				return
			}
		}
		for _, path := range q.Deletes {
			w.deleteOwn(base(path))
		}
		for _, n := range q.Creates {
			makeNode(n.Spec, n.GUID, "")
		}
	}
}

// endForsaken: the servers end a session that was given up, because its client closes it, or because it expires.
func (w *world) endForsaken(s int) {
	w.sessions[s].sent = nil
	for _, n := range w.nodesWhere(s, isForsaken) {
		w.deleteNode(n.name)
	}
}
