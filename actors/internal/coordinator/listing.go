package coordinator

import (
	"cmp"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// listing is a listing of one lock path that is under way, and who waits for it. One listing serves everybody who asked
// before it was answered and whose node it shows: nodes only ever vanish from before a contender, so that an older view
// never makes it look closer to the head than it is.
type listing struct {
	ask     uint64
	waiting []lister
	late    []lister // asked while it was under way
	permits int      // a semaphore's, as one who waits would have it: the lock path's data are read as well
}

// lister is a request that waits for a listing.
type lister struct {
	request RequestID
	op      uint64
	ahead   bool // it waits already, and only looks ahead
}

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
	c.listFor(r.queue.path, lister{request: r.id, op: op})
}

// listFor has a listing serve a request: the one that is under way, if it shows the request's node.
func (c *Coordinator) listFor(p *lockPath, w lister) {
	if p.listing != nil {
		p.listing.late = append(p.listing.late, w)
		return
	}
	c.startListing(p, []lister{w})
}

func (c *Coordinator) startListing(p *lockPath, waiting []lister) {
	l := &listing{waiting: waiting}
	for _, w := range waiting {
		if r := c.requests[w.request]; r != nil {
			l.permits = max(l.permits, cmp.Or(r.view.permits, r.spec.Permits)) // as it last was
		}
	}
	p.listing = l
	l.ask = c.ask(&List{Path: p.path, Permits: l.permits}, listed{p.path})
}

// listed is what a List is for.
type listed struct{ path string }

// of gives the lock path whose listing it is; nil where it was for a connection that is lost.
func (p listed) of(c *Coordinator, id uint64) *lockPath {
	if path := c.epoch.paths[p.path]; path != nil && path.listing != nil && path.listing.ask == id {
		return path
	}
	return nil
}

func (p listed) answered(c *Coordinator, id uint64, answer Answer) {
	path := p.of(c, id)
	if path == nil {
		return
	}
	l := path.listing
	path.listing = nil
	view := &answer.(*Listed).View
	for _, w := range l.waiting {
		c.tellListed(w, view)
	}
	var again []lister
	for _, w := range l.late {
		if c.serves(l, view, w) {
			c.tellListed(w, view)
		} else {
			again = append(again, w)
		}
	}
	for _, w := range again {
		c.listFor(path, w)
	}
}

// serves tells whether a listing says what a request needs that asked while it was under way.
func (c *Coordinator) serves(l *listing, view *View, w lister) bool {
	r := c.requests[w.request]
	if r == nil {
		return true // nobody
	}
	if !view.Failure.none() {
		return false
	}
	place, shown := view.Queue.Find(r.node.name)
	if shown && place.Predecessor != "" && place.Predecessor == r.view.departed {
		return false // it was read before that one went
	}
	return shown && (l.permits > 0 || r.spec.Permits == 0)
}

func (c *Coordinator) tellListed(w lister, view *View) {
	switch r := c.requests[w.request]; {
	case r == nil || r.life == ended:
	case w.ahead:
		c.lookedAhead(r, w.op, view)
	default:
		c.tell(r, c.judge(r, w.op, view))
	}
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
	place, shown := view.Queue.Find(r.node.name)
	ev := machine.ListedEvent(op, place, shown)
	if ev.Missing {
		return ev
	}
	if wrong := r.kind.stands(r, place, view.Permits); wrong != "" {
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits, Detail: wrong}
	}
	return ev
}
