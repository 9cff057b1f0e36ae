package coordinator

import (
	"maps"
	"slices"
)

// Orphans. A create whose reply was lost may be carried out after a search has found no node: the server that has it
// goes on when the session has moved to another, and the session moves back (TestRequestsOutliveAMove of tests/touches).
// Nobody knows the node that it makes, which would stand in its queue for as long as the session lives. While a
// connection commits transactions the session has not moved, so an orphan can only come between two connections. The
// session remembers such creates, and looks for their nodes on each new connection. It removes those that are no
// request's.
//
// A sync does not tell that the session has moved. So while there may be orphans, the session also looks every
// half of its timeout, which commits a transaction, whether it has other nodes or not.

// orphanLooksPerTimeout is the number of these looks in a session timeout.
const orphanLooksPerTimeout = 2

// mayBeOrphaned notes that no node of a request was found, though its create may have been sent. A server may carry that
// out later. If the search was made on an earlier connection, it may have done so by now.
func (c *Coordinator) mayBeOrphaned(r *request) {
	if r.node.phase == unknown && r.node.lost {
		o := c.orphansOf(r)
		o.phase, o.looks = lookDue, 0
		c.timeOrphans()
	}
}

// mayBeOlder notes that the node that was found for a request may be that of an older create. The newest may come late.
func (c *Coordinator) mayBeOlder(r *request) {
	if c.epoch.orphans[r.spec.GUID] != nil {
		c.mayBeOrphaned(r)
	}
}

// orphansOf gives the entry of a request. A new entry has no create that may come.
func (c *Coordinator) orphansOf(r *request) *orphan {
	guid := r.spec.GUID
	if c.epoch.orphans[guid] == nil {
		c.epoch.orphans[guid] = &orphan{request: r.id, spec: r.spec, looks: orphanForgotten}
	}
	return c.epoch.orphans[guid]
}

// neverTakeRemoved notes the nodes that a search has deleted, which no request is to take for its own.
func (c *Coordinator) neverTakeRemoved(r *request, found *Found) {
	for _, name := range found.Removed {
		c.orphansOf(r).removes(name)
	}
}

func (o *orphan) removes(name string) {
	if !slices.Contains(o.removed, name) {
		o.removed = append(o.removed, name)
	}
}

func (c *Coordinator) timeOrphans() {
	if e := &c.epoch; e.orphanTimer == 0 && c.awaitsOrphans() {
		e.orphanTimer = c.after(e.timeout/orphanLooksPerTimeout, timer{kind: OrphanTimer})
	}
}

func (c *Coordinator) awaitsOrphans() bool {
	for _, o := range c.epoch.orphans {
		if o.mayCome() {
			return true
		}
	}
	return false
}

// orphansDue looks again for those for which it is due. Where there are none it looks for one: that commits a
// transaction, which fails if the session has moved. On the next connection it looks for all.
func (c *Coordinator) orphansDue() {
	e := &c.epoch
	e.orphanTimer, e.orphanHangUps = 0, 0
	for guid, o := range e.orphans {
		o.looks = min(o.looks+1, orphanForgotten)
		if !o.mayCome() && (len(o.removed) == 0 || c.requests[o.request] == nil) { // else its request is not to take those
			delete(e.orphans, guid)
		}
	}
	if !c.looksForOrphans() {
		for _, guid := range slices.Sorted(maps.Keys(e.orphans)) {
			if o := e.orphans[guid]; o.mayCome() {
				o.phase = lookDue
				break
			}
		}
	}
	c.lookForOrphans()
	c.timeOrphans()
}

// looksForOrphans reports whether the servers are asked for one, or are to be asked.
func (c *Coordinator) looksForOrphans() bool {
	for _, o := range c.epoch.orphans {
		if o.phase != absentNow {
			return true
		}
	}
	return false
}

// OrphanDue reports whether an orphan is to be looked for that the servers are not asked for.
func (c *Coordinator) OrphanDue() bool {
	for _, o := range c.epoch.orphans {
		if o.phase == lookDue {
			return true
		}
	}
	return false
}

// lookForAllOrphans looks on a new connection. An answer to what was asked on the one before says nothing. If the servers
// hang up on these looks, it leaves them to the timer: each would cost all requests of the session their connection.
func (c *Coordinator) lookForAllOrphans() {
	for _, o := range c.epoch.orphans {
		if o.mayCome() {
			o.phase = lookDue
		}
	}
	if c.epoch.orphanHangUps < suspected {
		c.lookForOrphans()
	}
	c.timeOrphans()
}

// lookForOrphans looks for those for which it is due, with one query for each queue or contest.
func (c *Coordinator) lookForOrphans() {
	if !c.epoch.connected {
		return
	}
	type place struct{ path, one string }
	queries := map[place]*FindOrphans{}
	var inTurn []place
	for _, guid := range slices.Sorted(maps.Keys(c.epoch.orphans)) {
		o := c.epoch.orphans[guid]
		if o.phase != lookDue {
			continue
		}
		of := place{o.spec.Path, o.spec.One}
		if queries[of] == nil {
			queries[of] = &FindOrphans{Spec: o.spec}
			inTurn = append(inTurn, of)
		}
		queries[of].GUIDs = append(queries[of].GUIDs, guid)
	}
	for _, of := range inTurn {
		guids := queries[of].GUIDs
		asked := c.ask(queries[of], orphanSearch{of.path, of.one, guids})
		for _, guid := range guids {
			o := c.epoch.orphans[guid]
			o.phase, o.asked = looking, asked
		}
	}
}

// orphanSearch is the purpose of a FindOrphans.
type orphanSearch struct {
	path, one string
	guids     []string
}

// lookedFor gives an orphan if this query looks for it still.
func (c *Coordinator) lookedFor(guid string, asked uint64) *orphan {
	if o := c.epoch.orphans[guid]; o != nil && o.phase == looking && o.asked == asked {
		return o
	}
	return nil
}

func (p orphanSearch) stale(c *Coordinator, id uint64) bool {
	return !slices.ContainsFunc(p.guids, func(guid string) bool { return c.lookedFor(guid, id) != nil })
}

func (p orphanSearch) answered(c *Coordinator, id uint64, answer Answer) {
	a := answer.(*OrphansFound)
	failed := !a.Failure.none() && !a.Failure.is(NoAuth) // what may not be listed stays so
	contested := c.makesContestNode(p)
	for _, guid := range p.guids {
		if o := c.lookedFor(guid, id); o != nil {
			o.phase = absentNow
			if failed || contested || c.makesNode(o.request) {
				o.phase = lookDue // by the timer: a node that is found may be the one that is being made
			}
		}
	}
	if !a.Failure.none() {
		return
	}
	for _, found := range a.Nodes {
		// Of one that a newer query looks for this answer may show a node that its request has made since.
		if o := c.epoch.orphans[found.GUID]; o != nil && o.asked == id {
			c.removeOrphan(p, o, found)
		}
	}
}

// makesContestNode reports whether any request makes the node of the contest that was looked at. The node need not say
// whose it is.
func (c *Coordinator) makesContestNode(p orphanSearch) bool {
	q := c.epoch.paths[p.path].queueNamed("", p.one)
	return p.one != "" && q != nil &&
		slices.ContainsFunc(q.members, c.makesNode)
}

// makesNode reports whether a request lives, and may have a node whose name it does not know.
func (c *Coordinator) makesNode(id RequestID) bool {
	r := c.requests[id]
	return r != nil && r.makesNode()
}

// removeOrphan removes a node that was found, if it is no request's.
func (c *Coordinator) removeOrphan(p orphanSearch, o *orphan, found FoundOrphan) {
	_, n := c.epoch.paths[p.path].findNode(found.Name)
	if n != nil && (p.one == "" || n.token.Zxid() == found.Czxid) {
		if n.phase == deleting && o.looks < orphanForgotten {
			// It may have been deleted, and made anew by an older create: a reader beside a writer chooses its name.
			o.phase = lookDue // by the timer
		}
		return
	}
	if o.phase == lookDue { // its request may be making it
		return
	}
	if o.removals > 0 && slices.Contains(o.removed, found.Name) {
		o.phase = lookDue // by the timer: its removal is under way, or was
		return
	}
	o.removes(found.Name)
	o.removals++
	purpose := orphanRemoval{path: p.path, name: found.Name, guid: found.GUID}
	if p.one != "" {
		if q := c.epoch.paths[p.path].queueNamed(o.spec.Style.Name, p.one); q != nil {
			q.newest = max(q.newest, found.Czxid) // no request takes it any more
		}
		c.ask(&RemoveContest{Path: p.path + "/" + found.Name, Guard: found.Guard, Czxid: found.Czxid}, purpose)
		return
	}
	c.ask(&Commit{Deletes: []string{p.path + "/" + found.Name}}, purpose)
}

// orphanRemoval is the purpose of the delete of an orphan.
type orphanRemoval struct {
	path, name, guid string
}

func (p orphanRemoval) answered(c *Coordinator, _ uint64, answer Answer) {
	f, o := answer.failure(), c.epoch.orphans[p.guid]
	if o != nil {
		o.removals--
	}
	note := &Note{What: Unowned, Path: p.path, Node: p.name, Detail: f.Detail}
	switch {
	case f.none():
	case f.is(NoNode):
		return
	case f.is(NoAuth):
		note.What, c.doomed = MayNotRemove, true
	default:
		note.What = NotRemoved
		if o != nil {
			o.phase = lookDue // by the timer, or on the next connection
			c.timeOrphans()
		}
	}
	c.emit(note)
	if path := c.epoch.paths[p.path]; path != nil && f.none() {
		c.vanished(path, p.name)
	}
}
