package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// What an earlier process has left: a node that it held with, and died. Its session lives for a while yet.

// earlier is the epoch of a node that was left; those of sessions begin with 1.
const earlier = 0

// leave begins with the node that was left, where a request is to take it back.
func (w *world) leave() {
	if !slices.Contains(w.plan.Reclaim[:], true) {
		return
	}
	left := coordinator.NewSpec(&messages.Acquire{Path: lockPath, Reclaim: "label"}, "left", "", false, w.specs[0].Since)
	z := &w.servers
	z.zxid, z.sequence[0] = 1, 1
	z.nodes = []node{{name: left.Style.Prefix(left.GUID) + "0000000000", guid: "left", epoch: earlier, czxid: z.zxid}}
	w.newest[0], _ = messages.NewToken(z.zxid, 0)
}

func hasLeft(w *world, _ int) ways {
	return once(slices.ContainsFunc(w.servers.nodes, func(n node) bool { return n.epoch == earlier }))
}

// endEarlier: the servers end the session of the earlier process.
func (w *world) endEarlier(int) {
	for _, n := range w.servers.nodes {
		if n.epoch == earlier {
			w.deleteNode(n.name)
		}
	}
}

// seekLeft looks at the head of the queue. It is one step: what comes in between makes the transaction fail that
// follows.
func (w *world) seekLeft(s int, f *flight) {
	w.catchUp(s)
	a := &coordinator.Reclaimable{}
	f.answer, f.commits = a, true
	if len(w.servers.nodes) == 0 {
		return
	}
	if n := w.servers.nodes[0]; n.epoch == earlier && !n.wanted {
		number, _ := queue.Sequence(n.name)
		token, _ := messages.NewToken(n.czxid, 1)
		*a = coordinator.Reclaimable{Name: n.name, Version: n.version, Number: number, Token: token}
	}
}

// takeOver deletes the node and makes the other, in one transaction.
func (w *world) takeOver(s int, f *flight, q *coordinator.TakeOver) {
	w.catchUp(s)
	a := &coordinator.Created{Failure: w.lacks(0, q.Left.Name)}
	f.answer, f.commits = a, true
	at := w.servers.at(q.Left.Name)
	if at >= 0 && w.servers.nodes[at].version != q.Left.Version {
		a.Failure.Outcome = coordinator.Refused
	}
	if a.Failure.Outcome != coordinator.Applied {
		return
	}
	w.servers.zxid++
	w.deleteNode(q.Left.Name)
	a.Node = w.makeNode(s, q.Spec, q.Name)
	a.Node.First = true
	w.childrenChanged(0)
}
