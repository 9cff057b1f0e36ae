package walk

import (
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// The bounds on a session's nodes: see the coordinator's admission. They are checked here on the
// servers' nodes, and not on the coordinator's own counts.

// Bounded: a session has no more nodes at the servers, and no more that wait in one queue, than the plan allows for.
const Bounded Invariant = "a session's nodes are bounded"

// bounded reports whether the bounds of a plan are smaller than the usual ones.
func (p *Plan) bounded() bool { return p.Waiting > 0 || p.Nodes > 0 }

// bounds gives what a session may have.
func (p *Plan) bounds() coordinator.Bounds {
	bounds := coordinator.DefaultBounds()
	if bounds.Streak = maxActors + 2; p.Steady { // there are not as many nodes in a row otherwise
		bounds.Streak = 1
	}
	if p.Waiting > 0 {
		bounds.Waiting = p.Waiting
	}
	if p.Nodes > 0 {
		most := 0
		for i := range p.Sessions {
			most = max(most, p.spec(i).Size())
		}
		bounds.Weight = p.Nodes * most
	}
	return bounds
}

// checkBounds is Bounded, after every move. A downgrade is stopped by no bound.
func (w *world) checkBounds() {
	if !w.plan.bounded() {
		return
	}
	bounds := w.plan.bounds()
	for s := range w.sessions {
		weight, waiting := 0, [maxPaths]int{}
		for i := range w.servers.nodes {
			n := &w.servers.nodes[i]
			if n.session != s || n.epoch != w.epoch(s) || n.doomed || w.downgraded(n) {
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
		for j := range w.plan.Sessions {
			if n.guid == guid(i) && w.plan.Modes[i] == messages.Read && w.plan.Modes[j] == messages.Write && w.plan.sameOwner(i, j) {
				return true
			}
		}
	}
	return false
}

// waitsWith reports whether the request that a node was made for waits with it.
func (w *world) waitsWith(n *node) bool {
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; n.guid == guid(i) {
			return a.lives() && !a.m.Holding() && a.m.Ending == messages.StateNone
		}
	}
	return false
}

// checkTurn looks whether a lock is granted in the order of the session's requests, where the plan promises that.
func (w *world) checkTurn(i int) {
	if !w.plan.InTurn {
		return
	}
	for j := range i {
		a := &w.actors[j]
		if a.lives() && w.plan.Sessions[j] == w.plan.Sessions[i] && w.plan.Paths[j] == w.plan.Paths[i] &&
			!a.is.any(toldHeld) && a.m.Ending == messages.StateNone {
			w.violate(InOrder, "%s is granted the lock before %s, which came first", actorName(i), actorName(j))
		}
	}
}

// mayBegin reports whether a request can be made: that within another one, while the other's lock is held.
func mayBegin(w *world, i int) ways {
	within := w.plan.Within[i]
	return once(unbegun(&w.actors[i]) && (within == 0 || w.actors[within-1].m.Holding()))
}

// mayRelease reports whether a lock can be given back: not while another request lives that is within it.
func mayRelease(w *world, i int) ways {
	for j := range w.plan.Sessions {
		if w.plan.Within[j] == i+1 && w.actors[j].lives() {
			return 0
		}
	}
	return once(holds(&w.actors[i]))
}
