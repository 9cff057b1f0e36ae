package walk

import (
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// The bounds on a session's nodes, and on the contenders behind which a request waits. They are checked here on the
// servers' nodes and the machines' states, and not on the coordinator's own counts.

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

// looking gives the requests of a session that have the queue listed to know whether they may queue.
func (w *world) looking(s int) []coordinator.RequestID {
	if !w.plan.boundsWaiters() {
		return nil
	}
	return w.sessions[s].decides.Looking()
}

// checkWaiters checks WaitersBounded (see messages.Acquire.MaxWaiters), when a session has decided. Contenders of other
// sessions are counted where the queue was listed for that: as far as the session knows, later ones are not before the
// request. looking are those that had the queue listed before the input, in order: one answer decides several.
func (w *world) checkWaiters(s int, looking []coordinator.RequestID, in coordinator.Input, outputs []coordinator.Output) {
	if !w.plan.boundsWaiters() {
		return
	}
	var listed []string
	if reply, is := in.(*coordinator.Reply); is {
		if a, is := reply.Answer.(*coordinator.Listed); is && a.View.Queue != nil {
			listed = a.View.Queue.Names()
		}
	}
	for _, out := range outputs {
		if told, is := out.(*coordinator.Tell); is && told.Event.Reason == messages.ReasonQueueFull {
			w.refusedBehind(int(told.To)-1, listed, looking)
		}
	}
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && a.lives() && !a.is.any(queued) && w.sessions[s].decides.LetIn(coordinator.RequestID(i+1)) {
			a.is.put(queued, true)
			w.letIn(i, listed)
		}
	}
}

// letIn: a request is let into its queue. Before it are the requests of its session that have nodes
// or wait without one. Of other sessions, the contenders that were listed are before it, unless it
// goes on with a node of its own session, which is before them. The rule for readers and permits is
// in package queue.
func (w *world) letIn(i int, listed []string) {
	s, mode, before := w.plan.Sessions[i], w.plan.Modes[i], 0
	if mode == messages.Read || mode == messages.Semaphore {
		return
	}
	if w.plan.Cohort[i] == 0 {
		before = w.others(listed, func(j int) bool { return w.plan.Sessions[j] == s })
	}
	for j := range w.plan.Sessions {
		b := &w.actors[j]
		if j == i || w.plan.Sessions[j] != s || w.plan.Paths[j] != w.plan.Paths[i] || !b.lives() || w.plan.sameOwner(i, j) ||
			b.m.Ending != messages.StateNone || len(b.inbox) > 0 {
			continue
		}
		waitsInside := b.m.State == messages.StateWatching && b.m.Node == ""
		if waitsInside || slices.ContainsFunc(w.servers.nodes, func(n node) bool {
			return n.guid == guid(j) && n.epoch == w.epoch(s) && !n.doomed && !n.forsaken
		}) {
			before++
		}
	}
	if most := w.plan.MaxWaiters[i]; before >= most {
		w.violate(WaitersBounded, "%s is let in behind %d, and waits behind fewer than %d", actorName(i), before, most)
	}
}

// refusedBehind: a request is refused because of the contenders before it. It counts all that the
// session knows of, and all others that were listed. Those that the same answer has let in count where
// they looked before it.
func (w *world) refusedBehind(i int, listed []string, looking []coordinator.RequestID) {
	a, s := &w.actors[i], w.plan.Sessions[i]
	justLetIn := func(j int) bool {
		at, me := slices.Index(looking, coordinator.RequestID(j+1)), slices.Index(looking, coordinator.RequestID(i+1))
		return at >= 0 && at < me && w.sessions[s].decides.LetIn(coordinator.RequestID(j+1))
	}
	known := func(j int) bool {
		return j != i && w.plan.Sessions[j] == s && w.plan.Paths[j] == w.plan.Paths[i] &&
			w.sessions[s].decides.Knows(coordinator.RequestID(j+1)) &&
			(w.actors[j].life == stopped || w.plan.MaxWaiters[j] == 0 || w.plan.Try[j] || w.actors[j].is.any(queued) ||
				justLetIn(j))
	}
	before := w.others(listed, known)
	for j := range w.plan.Sessions {
		if known(j) {
			before++
		}
	}
	most := w.plan.MaxWaiters[i]
	switch {
	case a.is.any(queued):
		w.violate(WaitersBounded, "%s is refused, and was let in before", actorName(i))
	case w.plan.Modes[i] == messages.Read && !slices.ContainsFunc(w.plan.Modes[:len(w.plan.Sessions)], excludes):
		w.violate(WaitersBounded, "%s is refused, and need not wait", actorName(i))
	case before < most:
		w.violate(WaitersBounded, "%s is refused behind %d, and waits behind fewer than %d", actorName(i), before, most)
	case slices.ContainsFunc(w.servers.nodes, func(n node) bool { return n.guid == guid(i) && !n.doomed && !n.forsaken }):
		w.violate(WaitersBounded, "%s is refused, and has a node", actorName(i))
	}
}

// excludes reports whether a kind of lock excludes readers.
func excludes(mode messages.Mode) bool { return mode != messages.Read }

// others counts the nodes of a listing that are not those of some requests.
func (w *world) others(listed []string, but func(j int) bool) (n int) {
	for _, name := range listed {
		if !slices.ContainsFunc([]int{0, 1, 2, 3}[:len(w.plan.Sessions)], func(j int) bool {
			return strings.Contains(name, guid(j)+"-") && but(j)
		}) {
			n++
		}
	}
	return n
}
