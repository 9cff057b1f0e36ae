package coordinator

import (
	"cmp"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// list finds out where a request stands in its queue.
func (c *Coordinator) list(r *request, op uint64) {
	early := r.early
	r.early = nil
	if early != nil && early.Failure.none() {
		if _, shown := early.Queue.Find(r.node.name); shown {
			c.tell(r, c.judge(r, op, early))
			return
		}
	}
	c.listFor(r.queue.path, lister{operation: operation{r.id, op}, again: r.wait != nil})
}

// listFor has a listing serve a request: the one that is under way, if it shows the request's node.
func (c *Coordinator) listFor(p *lockPath, w lister) {
	if p.listing != nil {
		p.listing.after = append(p.listing.after, w)
		return
	}
	l := &listing{first: w}
	if r := c.requests[w.request]; r != nil {
		l.permits = cmp.Or(r.view.permits, r.spec.Permits) // as it last was
	}
	p.listing = l
	l.ask = c.ask(&List{Path: p.path, Permits: l.permits}, listed{p.path, w.request})
}

// judge is what a listing means for a request. It notes what the request is to watch.
func (c *Coordinator) judge(r *request, op uint64, view *View) machine.Event {
	switch {
	case view.Failure.is(NoPermits):
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits,
			Detail: fmt.Sprintf("data of %s: %v", r.spec.Path, view.Failure.Detail)}
	case !view.Failure.none():
		return failed(op, view.Failure)
	}
	position, shown := view.Queue.Find(r.node.name)
	ev := machine.ListedEvent(op, position, shown)
	if ev.Missing {
		return ev
	}
	if wrong := r.kind.stands(r, position, view.Permits); wrong != "" {
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits, Detail: wrong}
	}
	return ev
}

// listed is what a List is for, and who asked first.
type listed struct {
	path string
	by   RequestID
}

// lapsed: the listing was for a connection that is lost.
func (p listed) lapsed(c *Coordinator, id uint64) bool {
	path := c.epoch.paths[p.path]
	return path == nil || path.listing == nil || path.listing.ask != id
}
