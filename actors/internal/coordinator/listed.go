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
	position, shown := view.Queue.Find(r.node.name)
	if shown && position.Predecessor != "" && position.Predecessor == r.view.departed {
		return false // it was read before that one went
	}
	return shown && (l.permits > 0 || r.spec.Permits == 0)
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
		c.tell(r, c.judge(r, w.op, view))
	}
}
