package simulation

import (
	"strconv"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// Invariants of the holders, of their tokens, and of the order of grants.

// root is the outermost of the requests that hold one within the other.
func (r *lockRequest) root() *lockRequest {
	for r.within != nil {
		r = r.within
	}
	return r
}

// excludes reports whether two requests of one queue must not hold at the same time.
func (r *lockRequest) excludes(other *lockRequest) bool {
	switch {
	case r.root() == other.root(), r.mode == messages.Semaphore:
		return false
	}
	return r.mode != messages.Read || other.mode != messages.Read
}

// checkPermits: the holders of a semaphore take no more permits than it has. w.mu is held.
func (w *world) checkPermits(queue string, holders []*lockRequest) {
	taken := 0
	for _, r := range holders {
		taken += r.weight
	}
	if r := holders[0]; r.mode == messages.Semaphore && taken > r.permits {
		w.violated("two holders of %s too many: %d permits of %d are held", queue, taken, r.permits)
	}
}

// granted has the greatest tokens of a queue: of holders that exclude everybody, and of all.
type granted struct{ alone, any messages.Token }

// checkToken: a holder that excludes others has a greater token than all before; one that does not
// has a greater token than all that excluded it. All holds within one lease have one token. w.mu is
// held.
func (w *world) checkToken(r *lockRequest, token messages.Token) {
	last := w.tokens[r.queue()]
	for _, other := range w.requests {
		if other != r && other.root() == r.root() && other.held != nil && token == other.held.Token {
			return
		}
	}
	switch r.mode {
	case messages.Semaphore:
	case messages.Read:
		if token <= last.alone {
			w.violated("r%d is granted %s for reading with token %v after %v", r.number, r.queue(), token, last.alone)
		}
	default:
		if token <= last.any {
			w.violated("r%d is granted %s with token %v after %v", r.number, r.queue(), token, last.any)
		}
		last.alone = max(last.alone, token)
	}
	last.any = max(last.any, token)
	w.tokens[r.queue()] = last
}

// checkPassedOn: a node serves no further grant once its client has had an answer that is newer than the node's
// end, because the watch event came before. The nodes of a contest have one name. w.mu is held.
func (w *world) checkPassedOn(r *lockRequest) {
	end := w.brokenBy[r.nodePath()]
	if r.mode == messages.Contest || end == 0 || r.client.zxid < end || r.client.lostEvents > 0 || r.within != nil {
		return
	}
	for _, other := range w.requests {
		if other != r && other.held != nil && other.nodePath() == r.nodePath() {
			w.violated("r%d is granted %s with a node that its client knows to be gone", r.number, r.queue())
			return
		}
	}
}

// handsOver reports whether a node belongs to a request of the same client that has had the lock
// and gave it back; its delete is on its way.
func (w *world) handsOver(node string, r *lockRequest) bool {
	for _, other := range w.requests {
		if other.client == r.client && other.mode == messages.Exclusive && other.held != nil &&
			other.held.Node == node && !other.holds() {
			return true
		}
	}
	return false
}

// checkOrder: nobody is granted a lock while the node of somebody for whom it has to wait is there. Nodes that were
// made later have greater numbers, so that it does not matter that the look comes after the grant. w.mu is held.
func (w *world) checkOrder() {
	if len(w.fresh) == 0 || !w.server.Committing() {
		return
	}
	all := w.fresh
	w.fresh = nil
	names := map[string][]string{}
	w.operate(func(o *operator) {
		for _, r := range all {
			if _, known := names[r.dir()]; !known {
				names[r.dir()] = o.children(r.dir())
			}
		}
	})
	for _, r := range all {
		if r.mode == messages.Contest || w.brokenGrant(r) || r.end != "" {
			continue
		}
		own, before := placeOf(r.held.Node), 0
		for _, name := range names[r.dir()] {
			other := placeOf(name)
			if other.number >= own.number || other.named != own.named || r.mode == messages.Read && other.reads {
				continue
			}
			if w.handsOver(name, r) {
				continue
			}
			before += other.weight
		}
		if r.mode == messages.Semaphore && before+r.weight <= r.permits {
			continue
		}
		if before > 0 {
			w.violated("out of order: r%d is granted %s while others are before it", r.number, r.queue())
		}
	}
}

// nodePlace has the parts of a node's name, read without the machine's help.
type nodePlace struct {
	number, weight int
	named, reads   bool
}

func placeOf(name string) (p nodePlace) {
	parts := node.FindStringSubmatch(name)
	if parts == nil {
		return nodePlace{number: 1 << 40}
	}
	p.named, p.reads, p.weight = parts[2] != "", strings.EqualFold(strings.Trim(parts[3], "_"), "read"), 1
	if weight, heavy := strings.CutPrefix(strings.ReplaceAll(parts[3], "_", "-"), "permits-"); heavy {
		p.weight, _ = strconv.Atoi(weight)
	}
	p.number, _ = strconv.Atoi(parts[4])
	return p
}
