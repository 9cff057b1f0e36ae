package coordinator

import "slices"

// Orphans. A create whose reply was lost may be carried out after a search has found no node: the server that has it
// goes on when the session has moved to another, and the session moves back (TestRequestsOutliveAMove of tests/touches).
// Nobody knows the node that it makes, which would stand in its queue for as long as the session lives. While a
// connection commits transactions the session has not moved, so an orphan can only come between two connections. The
// session remembers such creates, and looks for their nodes on each new connection. It removes those that are no
// request's.
//
// A sync does not tell that the session has moved. So while there may be orphans, the session also looks every
// half of its timeout, which commits a transaction, whether it has other nodes or not.

const (
	// orphanLooksPerTimeout is the number of these looks in a session timeout.
	orphanLooksPerTimeout = 2
	// lastOrphanLook: after so many looks a create is forgotten. A server can keep it only while it follows the leader and
	// is not heard, for syncLimit ticks (5 in the servers' sample file). A session timeout is two ticks at least, so these
	// are 20 ticks.
	lastOrphanLook = 20
)

// mayBeOrphaned notes that no node of a request was found, though a server may yet carry out its create; or may have done
// so by now, where the search was made on an earlier connection.
func (c *Coordinator) mayBeOrphaned(r *request) {
	if r.node.phase == unknown && r.node.lost {
		o := c.orphansOf(r)
		o.phase, o.looks = lookDue, 0
	}
}

// orphanOf gives what is noted of the orphans of a GUID; nil for nothing.
func (c *Coordinator) orphanOf(guid string) *orphan {
	at := slices.IndexFunc(c.epoch.orphans, func(o orphan) bool { return o.guid == guid })
	if at < 0 {
		return nil
	}
	return &c.epoch.orphans[at]
}

// orphansOf notes that there may be orphans of a request.
func (c *Coordinator) orphansOf(r *request) *orphan {
	if c.orphanOf(r.node.guid) == nil {
		c.epoch.orphans = append(c.epoch.orphans, orphan{spec: r.spec, guid: r.node.guid})
		c.timeOrphans()
	}
	return c.orphanOf(r.node.guid)
}

// neverTake notes that the delete of a node was sent, which no request is to take for its own.
func (c *Coordinator) neverTake(r *request, name string) {
	if o := c.orphansOf(r); !slices.Contains(o.removed, name) {
		o.removed = append(o.removed, name)
	}
}

func (c *Coordinator) timeOrphans() {
	if e := &c.epoch; e.orphanTimer == 0 && len(e.orphans) > 0 {
		e.orphanTimer = c.after(e.timeout/orphanLooksPerTimeout, timer{kind: OrphanTimer})
	}
}

// orphansDue looks again for those for which it is due, or else for the oldest.
func (c *Coordinator) orphansDue() {
	e := &c.epoch
	e.orphanTimer = 0
	for i := range e.orphans {
		e.orphans[i].looks++
	}
	e.orphans = slices.DeleteFunc(e.orphans, func(o orphan) bool {
		return o.phase == absentNow && o.looks > lastOrphanLook && len(o.removed) == 0
	})
	if len(e.orphans) > 0 && !c.looksForOrphans() {
		e.orphans[0].phase = lookDue
	}
	c.lookForOrphans()
	c.timeOrphans()
}

// looksForOrphans reports whether the servers are asked for one, or are to be asked.
func (c *Coordinator) looksForOrphans() bool {
	return slices.ContainsFunc(c.epoch.orphans, func(o orphan) bool { return o.phase != absentNow })
}

// OrphanDue reports whether an orphan is to be looked for that the servers are not asked for.
func (c *Coordinator) OrphanDue() bool {
	return slices.ContainsFunc(c.epoch.orphans, func(o orphan) bool { return o.phase == lookDue })
}

// lookForAllOrphans looks on a new connection. An answer to what was asked on the one before says nothing.
func (c *Coordinator) lookForAllOrphans() {
	for i := range c.epoch.orphans {
		c.epoch.orphans[i].phase = lookDue
	}
	c.lookForOrphans()
}

// lookForOrphans looks for those for which it is due, with one query for each path.
func (c *Coordinator) lookForOrphans() {
	all := c.epoch.orphans
	for i := range all {
		if all[i].phase != lookDue || !c.epoch.connected {
			continue
		}
		sp, asked := all[i].spec, c.numbers+1
		what := &FindOrphans{Spec: sp}
		for j := i; j < len(all); j++ {
			if o := &all[j]; o.phase == lookDue && o.spec.Path == sp.Path && o.spec.One == sp.One {
				o.phase, o.asked = looking, asked
				what.GUIDs = append(what.GUIDs, o.guid)
			}
		}
		c.ask(what, orphanSearch{sp.Path, sp.One})
	}
}

// orphanSearch is the purpose of a FindOrphans.
type orphanSearch struct{ path, one string }

func (orphanSearch) stale(c *Coordinator, id uint64) bool {
	return !slices.ContainsFunc(c.epoch.orphans, func(o orphan) bool { return o.phase == looking && o.asked == id })
}

func (p orphanSearch) answered(c *Coordinator, id uint64, answer Answer) {
	a := answer.(*OrphansFound)
	for i := range c.epoch.orphans {
		if o := &c.epoch.orphans[i]; o.phase == looking && o.asked == id {
			o.phase = absentNow
			if !a.Failure.none() || c.mayFind(o) {
				o.phase = lookDue // by the timer
			}
		}
	}
	if !a.Failure.none() {
		return
	}
	for _, found := range a.Nodes {
		c.removeOrphan(p, found)
	}
}

// mayFind reports whether a node that is found may be that of a request, which does not know it yet. A request of a
// contest that finds a node with its GUID, whenever that is, takes it. And the node need not say whose it is.
func (c *Coordinator) mayFind(o *orphan) bool {
	for _, r := range c.requests {
		makes := r.node.phase == creating || r.node.phase == unknown
		if r.node.guid == o.guid && (makes || o.spec.One != "") ||
			makes && o.spec.One != "" && r.spec.One == o.spec.One && r.spec.Path == o.spec.Path {
			return true
		}
	}
	return false
}

// removeOrphan removes a node that was found, if it is no request's.
func (c *Coordinator) removeOrphan(p orphanSearch, found FoundOrphan) {
	_, n := c.epoch.paths[p.path].findNode(found.Name)
	if n != nil && (p.one == "" || n.token.Zxid() == found.Czxid) {
		return
	}
	o := c.orphanOf(found.GUID)
	if o == nil || o.phase == lookDue { // or it may be
		return
	}
	if !slices.Contains(o.removed, found.Name) {
		o.removed = append(o.removed, found.Name)
	}
	purpose := orphanRemoval{path: p.path, name: found.Name, guid: found.GUID}
	if p.one != "" {
		c.ask(&RemoveContest{Path: p.path + "/" + found.Name, Czxid: found.Czxid}, purpose)
		return
	}
	c.ask(&Commit{Deletes: []string{p.path + "/" + found.Name}}, purpose)
}

// orphanRemoval is the purpose of the delete of an orphan.
type orphanRemoval struct {
	neverStale
	path, name, guid string
}

func (p orphanRemoval) answered(c *Coordinator, _ uint64, answer Answer) {
	f := answer.failure()
	note := &Note{What: Unowned, Path: p.path, Node: p.name, Detail: f.Detail}
	switch {
	case f.none():
	case f.is(NoNode):
		return
	case f.is(NoAuth):
		note.What, c.doomed = MayNotRemove, true
	default:
		note.What = NotRemoved
		if o := c.orphanOf(p.guid); o != nil {
			o.phase = lookDue // by the timer, or on the next connection
		}
	}
	c.emit(note)
	if path := c.epoch.paths[p.path]; path != nil && f.none() {
		c.vanished(path, p.name)
	}
}
