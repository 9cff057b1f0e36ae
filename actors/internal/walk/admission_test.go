package walk

import (
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// The bounds on a session's nodes. They are checked here on the servers' nodes and the machines' states, and not on the
// coordinator's own counts.

// checkBounds is Bounded, after every move. No bound stops a downgrade, or an orphan.
func (w *world) checkBounds() {
	if !w.plan.bounded() {
		return
	}
	bounds := w.plan.bounds()
	for s := range w.sessions {
		weight, waiting := 0, [maxPaths]int{}
		for i := range w.servers.nodes {
			n := &w.servers.nodes[i]
			if n.session != s || n.epoch != w.epoch(s) || n.doomed || n.orphan || w.downgraded(n) {
				continue
			}
			weight += coordinator.WeightOf(lockPaths[n.path] + "/" + n.name)
			if w.waitsWith(n) {
				waiting[n.path]++
			}
		}
		if weight > bounds.Weight {
			w.violate(Bounded, "the nodes of %s weigh %d, and may weigh %d", sessionName(s), weight, bounds.Weight)
		}
		for path, n := range waiting {
			if n > bounds.Waiting {
				w.violate(Bounded, "%d nodes of %s wait in %s, and %d may", n, sessionName(s), lockPaths[path], bounds.Waiting)
			}
		}
	}
}

// downgraded reports whether a node was made in a downgrade.
func (w *world) downgraded(n *node) bool {
	for i := range w.plan.Sessions {
		if n.id == idOf(i) && w.plan.Beside[i] > 0 {
			return true
		}
	}
	return false
}

// waitsWith reports whether the request that a node was made for waits with it.
func (w *world) waitsWith(n *node) bool {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; n.id == idOf(i) {
			return a.lives() && !a.m.Holding() && a.m.Ending == messages.StateNone
		}
	}
	return false
}

// checkRefusal is Kept, where a request is told that no node is made for it.
func (w *world) checkRefusal(i int, why messages.Reason) {
	if full := why == messages.ReasonQueueFull || why == messages.ReasonSessionFull; full && w.actors[i].is.any(queued) {
		w.violate(Kept, "%s is refused (%s), and had a node while it waited", actorName(i), why)
	}
}
