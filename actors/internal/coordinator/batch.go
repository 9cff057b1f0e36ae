package coordinator

import "slices"

// Group commit. A session that is idle sends at once. While a transaction is under way, creates and deletes gather, and go
// together in the next; a few may be under way when there is enough for another. All or nothing is done: when one part is
// refused each is asked for by itself, so that each is answered for itself, and when the outcome is unknown each part's is.

const (
	// maxTogether bounds the operations of one transaction; those of one lock path stay below messages.MaxPlace.
	maxTogether = 256
	// maxBytes bounds the names and data of one transaction; jute.maxbuffer is 1 MiB.
	maxBytes = 256 << 10
	// enough is how many operations make another transaction worth sending while others are under way.
	enough = 64
	// maxUnderway is how many transactions may be under way.
	maxUnderway = 4
)

// batch is what waits to be committed.
type batch struct {
	waiting  []change
	underway int // transactions
}

// change is a create or a delete.
type change struct {
	request RequestID
	op      uint64
	node    string // to be deleted; empty for a create
	brief   bool   // it was held for a short time
}

// bytes is about how much it takes in a transaction.
func (c *Coordinator) bytes(ch change) int {
	return c.requests[ch.request].spec.bytes()
}

// submit takes a change. It is sent at once when nothing is under way, by itself where it cannot share a transaction.
func (c *Coordinator) submit(ch change) {
	switch {
	case !c.fast(GroupCommit):
		c.alone(ch, creation{})
	case ch.node == "" && (c.probes(ch) || c.gather(ch)), ch.node != "" && c.gatherDelete(ch):
	default:
		c.epoch.batch.waiting = append(c.epoch.batch.waiting, ch)
		c.flush()
	}
}

// probes carries out a create by itself where the lock path does not allow for more, or is not known. The first that comes to
// a path finds out about it; those that come meanwhile wait, so that they can share a transaction.
func (c *Coordinator) probes(ch change) bool {
	r := c.requests[ch.request]
	p := r.queue.path
	switch {
	case p.info.Counted && r.spec.Permits == 0:
		return false
	case p.probe.underway:
		p.probe.waiting = append(p.probe.waiting, ch)
	case p.info.Exists:
		c.alone(ch, creation{})
	default:
		p.probe.underway = true
		c.alone(ch, creation{probes: true})
	}
	return true
}

// flush sends what has been gathered, as far as it may be sent now.
func (c *Coordinator) flush() {
	b := &c.epoch.batch
	for len(b.waiting) > 0 && (b.underway == 0 || b.underway < maxUnderway && len(b.waiting) >= enough) {
		n, bytes := 0, 0
		for n < len(b.waiting) && n < maxTogether {
			if bytes += c.bytes(b.waiting[n]); n > 0 && bytes > maxBytes {
				break
			}
			n++
		}
		together := b.waiting[:n:n]
		if b.waiting = b.waiting[n:]; len(b.waiting) == 0 {
			b.waiting = nil
		}
		b.underway++
		if n == 1 {
			c.alone(together[0], creation{batch: true})
		} else {
			c.commit(together)
		}
	}
}

// alone carries out one change by itself.
func (c *Coordinator) alone(ch change, as creation) {
	r := c.requests[ch.request]
	if ch.node == "" {
		r.node.place, r.node.mates = 0, false
		as.request, as.op = ch.request, ch.op
		c.ask(&Create{Spec: r.spec, Info: r.queue.path.info}, as)
		return
	}
	what := &Commit{Deletes: []string{r.queue.path.at(ch.node)}}
	c.needSuccessors([]change{ch}, what)
	c.ask(what, transaction{changes: []change{ch}, exist: what.Exist, batch: as.batch})
}

// commit carries out several changes in one transaction.
func (c *Coordinator) commit(changes []change) {
	what := &Commit{}
	places := map[*lockPath]int{}
	for _, ch := range changes {
		r := c.requests[ch.request]
		p := r.queue.path
		if ch.node != "" {
			what.Deletes = append(what.Deletes, p.at(ch.node))
			continue
		}
		r.node.place = places[p]
		what.Creates = append(what.Creates, NewNode{Spec: r.spec, Place: places[p]})
		places[p]++
	}
	for _, ch := range changes {
		if r := c.requests[ch.request]; ch.node == "" {
			r.node.mates = places[r.queue.path] > 1
		}
	}
	c.needSuccessors(changes, what)
	c.ask(what, transaction{changes: changes, exist: what.Exist, batch: true})
}

// needSuccessors puts the nodes into a transaction that must exist when others are deleted, each once. It begins with the newest:
// to it the others' holds have come.
func (c *Coordinator) needSuccessors(changes []change, what *Commit) {
	for _, ch := range slices.Backward(changes) {
		if ch.node == "" {
			continue
		}
		r := c.requests[ch.request]
		next := r.node.nextHolder()
		if next == nil || r.node.name != ch.node {
			continue
		}
		if path := r.queue.path.at(next.name); !slices.Contains(what.Exist, path) {
			what.Exist = append(what.Exist, path)
		}
	}
}

// transaction is what a Commit is for.
type transaction struct {
	changes []change
	exist   []string // the nodes that had to, by their paths
	batch   bool     // it is one of those under way in the batch
}

func (t transaction) answered(c *Coordinator, _ uint64, answer Answer) {
	a := answer.(*Committed)
	if c.disappeared(t.exist, a.Failure) { // nothing was done
		c.again(t)
		return
	}
	if t.batch {
		c.epoch.batch.underway--
	}
	if f := a.Failure; !f.none() && f.Outcome != Unknown && len(t.changes) > 1 {
		// Nothing was done, for the sake of one part that nobody has asked the others about.
		for _, ch := range t.changes {
			c.alone(ch, creation{})
		}
		c.flush()
		return
	}
	if a.Failure.none() {
		c.lookAtLease()
	}
	next := 0
	for _, ch := range t.changes {
		r := c.requests[ch.request]
		switch {
		case ch.node != "":
			c.removed(r, ch.op, ch.node, a.Failure)
		case !a.Failure.none():
			c.created(r, ch.op, Made{}, nil, a.Failure)
		default:
			r.queue.path.info = Info{Exists: true, Counted: true}
			c.created(r, ch.op, a.Made[next], nil, Failure{})
			next++
		}
	}
	c.flush()
}

// again carries a transaction out once more.
func (c *Coordinator) again(t transaction) {
	if len(t.changes) == 1 && t.changes[0].node != "" {
		c.alone(t.changes[0], creation{batch: t.batch})
		return
	}
	c.commit(t.changes)
}

// ungather takes a create back that has not been sent.
func (c *Coordinator) ungather(r *request) bool {
	found := false
	drop := func(from []change) []change {
		return slices.DeleteFunc(from, func(ch change) bool {
			mine := ch.request == r.id && ch.node == ""
			found = found || mine
			return mine
		})
	}
	c.epoch.batch.waiting = drop(c.epoch.batch.waiting)
	r.queue.row.creates = drop(r.queue.row.creates)
	r.queue.path.probe.waiting = drop(r.queue.path.probe.waiting)
	return found
}
