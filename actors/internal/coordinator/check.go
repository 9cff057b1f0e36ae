package coordinator

import (
	"fmt"
	"slices"
)

// Check gives the first invariant of the state that does not hold, nil when all do. Tests and package walk call it
// after every input.
func (c *Coordinator) Check() error {
	for _, r := range c.inOrder() {
		if wrong := c.checkRequest(r); wrong != "" {
			return fmt.Errorf("request %d, life %d, node %+v: %s", r.id, r.life, *r.node, wrong)
		}
	}
	if wrong := c.checkRoom(); wrong != "" {
		return fmt.Errorf("room: %s", wrong)
	}
	for _, p := range c.epoch.paths {
		if wrong := c.checkPath(p); wrong != "" {
			return fmt.Errorf("path %s: %s", p.path, wrong)
		}
	}
	return nil
}

// checkRequest describes the first violation that it finds in a request; "" for none.
func (c *Coordinator) checkRequest(r *request) string {
	n := r.node
	switch {
	case r.queue == nil || c.epoch.paths[r.queue.path.path] != r.queue.path:
		return "its lock path is of another epoch"
	case n.of != r.id:
		return "its node is another's"
	case n.exists() && !r.queue.has(n):
		return "its node is not in the queue"
	case r.held && !n.exists() && n.phase != unknown:
		return "it holds without a node"
	case r.asks.contention != 0 && !slices.Contains(r.queue.path.watchers[children], watcher{r.id, attends}):
		return "it is to hear of other contenders, and nobody watches for them"
	case r.asks.check != 0 && c.epoch.asked[r.asks.check] == nil:
		return "its node is being checked, and nobody will answer"
	case r.wait != nil && r.life == ended:
		return "it waits, and has ended"
	case r.life == ended && r.removal.phase == noRemoval:
		return "it has ended, and nothing removes its node"
	case r.removal.phase == removing && n.phase == creating:
		return "its node is made and deleted at the same time"
	case n.phase != absent && !r.admitted:
		return "it has a node, or may have, and was not admitted"
	case r.pace.keepsOrder() && !c.epoch.connected:
		return "an order of a connection that is lost waits for the end of a pause"
	case r.pace.keepsOrder() && c.epoch.timers[r.pace.timer].kind != PauseTimer:
		return "an order waits for the end of a pause, and nothing will end it"
	case r.isLookedFor() && n.phase != creating && !c.isWaited(r):
		return "somebody waits for what becomes of its node, and nobody will look"
	}
	return ""
}

// isWaited reports whether a look that answers a request is under way, or comes, or a check of its node is under way.
func (c *Coordinator) isWaited(r *request) bool {
	for _, what := range c.epoch.asked {
		if what == (checking{operation{r.id, r.search}}) {
			return true
		}
	}
	l := &r.queue.path.look
	return slices.Contains(l.covered, r.id) || slices.Contains(l.joined, r.id)
}

// checkPath describes the first violation that it finds in a lock path; "" for none.
func (c *Coordinator) checkPath(p *lockPath) string {
	for _, q := range p.queues {
		for at, n := range q.nodes {
			switch {
			case !n.exists():
				return fmt.Sprintf("%s is in a queue, and does not exist", n.name)
			case c.requests[n.of] == nil || c.requests[n.of].node != n:
				return fmt.Sprintf("%s is nobody's", n.name)
			case at > 0 && n.number < q.nodes[at-1].number:
				return fmt.Sprintf("%s stands behind %s", n.name, q.nodes[at-1].name)
			}
		}
		if q.burst.remote < 0 || len(q.burst.creates) > 0 && c.epoch.timers[q.burst.timer].kind != CreatesTimer ||
			len(q.burst.deletes) > 0 && c.epoch.timers[q.burst.deleteTimer].kind != DeletesTimer {
			return "changes are delayed, and nothing will send them"
		}
	}
	switch l := &p.look; {
	case l.late > 0 && c.epoch.timers[c.epoch.lateTimer].kind != CreateTimer:
		return "a create may come late, and nobody will look"
	case l.ask != 0 && !c.epoch.connected, l.ask == 0 && len(l.covered) > 0:
		return "a look at it goes on, and its connection is lost"
	case len(l.joined) > 0 && c.epoch.connected && l.ask == 0 && c.epoch.timers[l.timer].kind != LookTimer:
		return "a look is wanted, and nobody will look"
	}
	for name, all := range p.watchers {
		for _, w := range all {
			if r := c.requests[w.request]; r == nil || !r.watches(name, w.role) {
				return fmt.Sprintf("events of %q are for a request that does not wait for them", name)
			}
		}
	}
	return ""
}

// checkRoom counts the requests of the session and of its queues anew. It describes the first count
// that differs, or the first bound that is exceeded; "" for none.
func (c *Coordinator) checkRoom() string {
	weight, beyond, held, waiting := 0, 0, 0, map[*ownQueue]int{}
	for _, r := range c.requests {
		if r.counted != c.counts(r) {
			return fmt.Sprintf("request %d is counted as %+v", r.id, r.counted)
		}
		weight += r.counted.weight
		if r.spec.Want.Beside != "" {
			beyond += r.counted.weight
		}
		held += r.counted.holds
		waiting[r.queue] += r.counted.waits
	}
	l := &c.epoch.load
	switch {
	case held != c.epoch.held:
		return fmt.Sprintf("%d requests hold, and the session counts %d", held, c.epoch.held)
	case weight != l.nodes:
		return fmt.Sprintf("the requests weigh %d, and the session counts %d", weight, l.nodes)
	case l.nodes+l.others > c.bounds.Weight+beyond:
		return fmt.Sprintf("the nodes of the session weigh %d, and may weigh %d", l.nodes+l.others, c.bounds.Weight)
	}
	for q, waits := range waiting {
		if waits != q.waiting || waits > c.bounds.Waiting {
			return fmt.Sprintf("%d wait in %q of %s, which counts %d, and %d may", waits, q.name, q.path.path, q.waiting, c.bounds.Waiting)
		}
	}
	return ""
}
