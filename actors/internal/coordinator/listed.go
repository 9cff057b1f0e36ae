package coordinator

func (p listed) answered(c *Coordinator, _ uint64, answer Answer) {
	path := c.epoch.paths[p.path]
	l, view := path.listing, &answer.(*Listed).View
	path.listing = nil
	path.noteSize(view)
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

// showsUnheard tells whether a listing shows what a request should have heard of that has waited for long and looks again:
// a node that it waits for is gone, the permits are others, or nobody is before it any more.
//
// It is exact. A server sends an event before any answer that shows what the event is about, and the first event ends the
// wait. Only of nodes of this session the news come by another way, perhaps later: these count once the session takes
// them to be gone. Of a semaphore's waiter the predecessor may not have written yet that it holds; that counts, too.
func (c *Coordinator) showsUnheard(r *request, view *View) bool {
	w := r.wait
	if w == nil || w.pending > 0 || !view.Failure.none() || r.spec.One != "" {
		return false
	}
	place, shown := view.Queue.Find(r.node.name)
	if !shown {
		return false // no watch is on it, and heartbeats look for it
	}
	if w.children {
		return place.Before < r.view.before
	}
	first := place.Before == 0 && r.spec.Permits > 0
	for _, name := range w.nodes {
		if name == "" {
			if view.Permits != r.view.permits {
				return true
			}
			continue
		}
		_, there := view.Queue.Find(name)
		ours := r.queue.find(name) != nil
		if !there && !ours {
			return true
		}
		first = first && (there || !ours)
	}
	return first
}

func (c *Coordinator) tellListed(w lister, view *View) {
	switch r := c.requests[w.request]; {
	case r == nil || r.life == ended:
	case w.lookAhead:
		c.lookedAhead(r, w.op, view)
	default:
		if w.again && view.Failure.none() && r.spec.One == "" {
			c.lookAtHead(r, view)
		}
		if w.again && c.showsUnheard(r, view) {
			c.unheard++
		}
		c.tell(r, c.judge(r, w.op, view))
	}
}
