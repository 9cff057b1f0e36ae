package coordinator

import (
	"cmp"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

func (c *Coordinator) list(r *request, op uint64) {
	early := r.early
	r.early = nil
	if early != nil && early.Failure.none() {
		if _, shown := early.Queue.Find(r.node.name); shown {
			c.removeStrays(r, early)
			c.tell(r, c.listedEvent(r, op, early))
			return
		}
	}
	c.listFor(r.queue.path, lister{operation: operation{r.id, op}})
}

// removeStrays removes what restored servers have brought back in the queue of a request.
func (c *Coordinator) removeStrays(r *request, view *View) {
	for _, name := range view.Queue.Queue(r.spec.Style.Name) {
		c.removeStray(r.queue.path, name, 0)
	}
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

// listedEvent turns a listing into the event for a request. It notes the nodes that the request is
// to watch.
func (c *Coordinator) listedEvent(r *request, op uint64, view *View) machine.Event {
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
	if wrong := r.kind.noteListing(r, position, view.Permits); wrong != "" {
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonPermits, Detail: wrong, Permits: view.Permits}
	}
	if r.spec.Want.TellMore {
		ev.Before = view.Queue.CountBefore(r.node.name)
	}
	return ev
}

// disagrees tells why a request cannot wait for so many permits, "" when it can. One with ExactPermits must know the number
// when it comes.
func (r *request) disagrees(permits int) string {
	switch {
	case r.spec.Want.ExactPermits && r.view.permits == 0 && permits != r.spec.Permits:
		return fmt.Sprintf("%s has %d permits, not %d", r.spec.Path, permits, r.spec.Permits)
	case r.spec.Style.Weight > permits:
		return fmt.Sprintf("%d permits are asked for, and %s has %d", r.spec.Style.Weight, r.spec.Path, permits)
	}
	return ""
}

// listed is the purpose of a List, with the request that asked first.
type listed struct {
	path string
	by   RequestID
}

// stale: the listing was for a connection that is lost.
func (p listed) stale(c *Coordinator, id uint64) bool {
	path := c.epoch.paths[p.path]
	return path == nil || path.listing == nil || path.listing.ask != id
}

func (p listed) answered(c *Coordinator, _ uint64, answer Answer) {
	path := c.epoch.paths[p.path]
	l, view := path.listing, &answer.(*Listed).View
	path.listing = nil
	path.noteSize(view)
	if r := c.requests[p.by]; r != nil && view.Failure.none() {
		c.removeStrays(r, view)
	}
	c.tellListed(l.first, view)
	var again []lister
	for _, w := range l.after {
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

func (c *Coordinator) serves(l *listing, view *View, w lister) bool {
	r := c.requests[w.request]
	if r == nil {
		return true // nobody
	}
	if !view.Failure.none() {
		return false
	}
	position, shown := view.Queue.Find(r.node.name)
	if shown && position.Predecessor != "" && position.Predecessor == r.view.departed {
		return false // it was read before the predecessor went
	}
	return shown && (l.permits > 0 || r.spec.Permits == 0)
}

// polls reports whether a request lists, or creates, because its poll timer fired: with the operation
// after that of a wait that goes on. A Watch that came while the connection was down is carried out
// late, for a machine that has gone on.
func (r *request) polls(op uint64) bool { return r.waitsIn(op - 1) }

func (c *Coordinator) countPoll(r *request, what Noted, node string) {
	c.polls++
	c.emit(&Note{What: what, Path: r.spec.Path, Node: node})
}

// showsUnheard reports, as Polled or Unannounced, whether a listing shows a change of which a request should have heard an
// event. Its poll timer has fired. The change is that a node that it waits for is gone, the number
// of permits is another, or nobody is before it any more.
//
// It is exact. A server sends an event before any answer that shows what the event is about, and
// the first event ends the wait. Only the ends of this session's own nodes come by another way,
// perhaps later: these count once the session takes them to be gone. The predecessor of a
// semaphore's waiter may hold and not have written so yet; that counts, too.
func (c *Coordinator) showsUnheard(r *request, view *View) (what Noted, shows bool) {
	w := r.wait
	position, shown := view.Queue.Find(r.node.name)
	if w.pending > 0 || !shown { // no watch is on its own node, and heartbeats look for it
		return Polled, false
	}
	if w.children {
		return Polled, position.Before < r.view.before
	}
	first := position.Before == 0 && r.spec.Permits > 0
	for _, name := range w.nodes {
		if name == "" {
			if view.Permits != r.view.permits {
				return Polled, true
			}
			continue
		}
		_, there := view.Queue.Find(name)
		ours := r.queue.find(name) != nil
		if !there && !ours {
			return Polled, true
		}
		first = first && (there || !ours)
	}
	if w.unread {
		return Polled, first
	}
	return Unannounced, first
}

func (c *Coordinator) tellListed(w lister, view *View) {
	switch r := c.requests[w.request]; {
	case r == nil || r.life == ended:
	case w.ahead:
		r.kind.lookedAhead(c, r, w.op, view)
	default:
		if r.polls(w.op) && view.Failure.none() && r.spec.One == "" {
			if what, shows := c.showsUnheard(r, view); shows {
				c.countPoll(r, what, r.node.name)
			}
		}
		c.tell(r, c.listedEvent(r, w.op, view))
	}
}
