package coordinator

import "slices"

// Group commit. A session that is idle sends at once. While a transaction is under way, creates and deletes are
// batched, and go together in the next; a few may be under way when there is enough for another. All or nothing is
// done: when one part is refused each is asked for by itself, so that each is answered for itself, and when the outcome
// is unknown each part's is.
//
// Transactions that are under way together may be carried out in any order. A transaction that
// deletes may need another node (leave.go). A later transaction may delete that node first. Then
// the earlier one is refused, and sent once more. So in the batch such deletes are kept from the
// other changes as soon as there is enough for several transactions. Only the request that has
// given the lock back waits for them; for creates, and for the last deletes of a burst, others
// wait.

const (
	// maxTogether bounds the operations of one transaction; the creates of one lock path stay below
	// messages.MaxPlace.
	maxTogether = 256
	// maxBytes bounds the names and data of one transaction; jute.maxbuffer is 1 MiB.
	maxBytes = 256 << 10
	// usualBytes is the size of a create without its names and keys, more or less.
	usualBytes = 320
	// enough operations make another transaction worth sending while others are under way.
	enough = 64
	// maxUnderway bounds the transactions under way.
	maxUnderway = 4
	// mayPass bounds the transactions that may overtake deletes that have waited for longer.
	mayPass = maxUnderway
)

// creation is the purpose of a Create or a CreateAt. Its answer is taken in create.go.
type creation struct {
	operation
	batch   bool // it is one of the transactions of the batch
	looksUp bool // others wait for the path info that it brings
}

// transaction is the purpose of a Commit. Its answer is taken in create.go.
type transaction struct {
	changes []change
	exist   []string // the nodes that had to, by their paths
	batch   bool     // it is one of those under way in the batch
}

func (c *Coordinator) flush() {
	b := &c.epoch.batch
	for len(b.waiting) > 0 && (b.underway == 0 || b.underway < maxUnderway && len(b.waiting) >= enough) {
		n := 1
		if len(b.waiting) > 1 {
			n = c.next()
		}
		together := b.waiting[:n:n]
		if b.waiting = b.waiting[n:]; len(b.waiting) == 0 {
			b.waiting = nil
		}
		b.underway++
		if n == 1 {
			c.sendSingly(together[0], true)
		} else {
			c.commit(together)
		}
	}
}

// next tells how many of the changes that wait go in the next transaction.
func (c *Coordinator) next() (n int) {
	b := &c.epoch.batch
	upTo := min(len(b.waiting), maxTogether)
	if len(b.waiting) < enough {
		b.passed = 0
	} else {
		upTo = c.setApart(b.waiting[:upTo])
	}
	for bytes := 0; n < upTo; n++ {
		sp := c.requests[b.waiting[n].request].spec
		bytes += usualBytes + len(sp.Path) + len(sp.ID) + len(sp.Want.Reclaim) + len(sp.Want.Label) + len(sp.Want.Owner) + len(sp.Want.Caller)
		if n > 0 && bytes > maxBytes {
			break
		}
	}
	return n
}

// setApart has deletes that need another node come behind all other changes, and tells how many changes may go
// together: the others, or the deletes where there are no others. The deletes go, too, when they have been passed for
// often enough.
func (c *Coordinator) setApart(changes []change) (together int) {
	b := &c.epoch.batch
	turn := b.passed == mayPass
	var apart []change
	for _, ch := range changes {
		if (c.successorOf(ch) != nil) != turn {
			apart = append(apart, ch)
		} else {
			changes[together] = ch
			together++
		}
	}
	copy(changes[together:], apart)
	if together == 0 {
		b.passed = 0
		return len(changes)
	}
	if b.passed++; turn || len(apart) == 0 {
		b.passed = 0
	}
	return together
}

// sendSingly has one change made by itself. batch: it is one of the transactions of the batch.
func (c *Coordinator) sendSingly(ch change, batch bool) {
	if ch.node == "" {
		c.createSingly(creation{operation: ch.operation, batch: batch})
		return
	}
	c.transact([]change{ch}, &Commit{Deletes: []string{c.requests[ch.request].queue.path.at(ch.node)}}, batch)
}

func (c *Coordinator) createSingly(as creation) {
	r := c.requests[as.request]
	r.node.place, r.node.batchMates, r.node.under = 0, false, r.queue.path.identity.watch
	c.ask(&Create{Request: r.id, Spec: r.spec, GUID: r.spec.guid(c.epoch.mark, r.node), Info: r.queue.path.info, List: c.listsBehind(r)}, as)
}

// listsBehind reports whether the queue is to be listed behind the create of a request. A listing
// is useless where the request waits for a node of this session, and expensive where the lock path
// is crowded.
func (c *Coordinator) listsBehind(r *request) bool {
	return !r.queue.path.info.Crowded && !c.isSteady(r) && !slices.ContainsFunc(r.queue.nodes, func(n *node) bool {
		return n != r.node && n.exists() && r.waitsFor(n)
	})
}

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
		r.node.place, r.node.under = places[p], p.identity.watch
		what.Creates = append(what.Creates, NewNode{Spec: r.spec, GUID: r.spec.guid(c.epoch.mark, r.node), Place: places[p], List: c.listsBehind(r)})
		places[p]++
	}
	for _, ch := range changes {
		if r := c.requests[ch.request]; ch.node == "" {
			r.node.batchMates = places[r.queue.path] > 1
		}
	}
	c.transact(changes, what, true)
}

// transact sends a transaction, with the nodes that must exist when others are deleted, each once. It begins with the
// newest: to it the others' holds have come.
func (c *Coordinator) transact(changes []change, what *Commit, batch bool) {
	for _, ch := range slices.Backward(changes) {
		next := c.successorOf(ch)
		if next == nil {
			continue
		}
		if path := c.requests[ch.request].queue.path.at(next.name); !slices.Contains(what.Exist, path) {
			what.Exist = append(what.Exist, path)
		}
	}
	c.ask(what, transaction{changes: changes, exist: what.Exist, batch: batch})
}

// successorOf gives the node that must exist when another is deleted; nil for none, and for a create.
func (c *Coordinator) successorOf(ch change) *node {
	if n := c.requests[ch.request].node; ch.node != "" && n.name == ch.node {
		return n.nextHolder()
	}
	return nil
}
