package embedded

import (
	"slices"
	"time"
)

// elect sees to it that there is a leader when a majority can reach each other, and none otherwise.
// When the leader changes, every replica drops its clients, as ZooKeeper's do.
func (e *ensemble) elect() {
	defer e.relink()
	if e.leader != nil && e.followed(e.leader) {
		return
	}
	if e.leader != nil && e.leader.paused() {
		e.leader.pause = asleepOverthrown
	}
	e.leader, e.intake = nil, nil
	all, first := e.candidates(), (*Replica)(nil)
	for _, r := range all {
		r.dropClients()
		if !e.couldLead(r, all) {
			continue
		}
		r.catchUp()
		r.lagging = false
		if first == nil || r.tree.zxid > first.tree.zxid {
			first = r
		}
	}
	if first != nil {
		e.crown(first)
	}
}

// followed means that a leader has its majority still.
func (e *ensemble) followed(leader *Replica) bool {
	have := 0
	for _, r := range e.replicas {
		if r.running && r.cut == connected && !r.looking {
			have++
		}
	}
	return leader.running && leader.cut == connected && 2*have > len(e.replicas)
}

// candidates are the replicas that take part in an election.
func (e *ensemble) candidates() (all []*Replica) {
	for _, r := range e.replicas {
		if r.running && r.cut == connected && !r.paused() {
			all = append(all, r)
		}
	}
	return all
}

// couldLead means that a replica reaches a majority.
func (e *ensemble) couldLead(leader *Replica, all []*Replica) bool {
	have := 0
	for _, r := range all {
		if e.reach(leader, r) {
			have++
		}
	}
	return 2*have > len(e.replicas)
}

// crown makes a replica the leader, with all that was ever committed: each majority has it.
func (e *ensemble) crown(leader *Replica) {
	if e.newest != nil && e.newest.zxid > leader.tree.zxid {
		leader.tree = e.newest.clone()
	}
	if len(e.replicas) > 1 {
		e.zxid = (e.zxid>>32 + 1) << 32
	}
	for _, r := range e.replicas {
		if !r.running || r.cut != connected {
			continue
		}
		r.looking = r != leader && !e.reach(leader, r)
		if r.looking {
			r.dropClients()
			continue
		}
		r.catchUp()
		r.lagging = false
		if r.tree.zxid != leader.tree.zxid {
			r.tree = leader.tree.clone()
		}
	}
	for _, r := range e.replicas {
		if len(e.replicas) > 1 && r.running && r.cut == connected && !r.looking {
			r.tree.zxid = e.zxid
		}
	}
	e.leader, e.newest = leader, leader.tree
	for _, s := range e.sessions {
		s.at, s.closing = nil, false
		e.touch(s, s.created) // a new leader gives everybody their full time
	}
}

// relink connects the leader with its followers, and with no other replica.
func (e *ensemble) relink() {
	for _, r := range e.replicas {
		follows := r.following() && r != e.leader
		switch {
		case follows && (r.link == nil || r.link.down.from != e.leader):
			r.unlink()
			r.link, r.losing = newLink(e.leader, r), false
			r.touched = map[int64]time.Duration{}
		case !follows:
			r.unlink()
		}
	}
	e.drain()
}

// unlink ends a follower's connection to its leader. Messages under way are lost.
func (r *Replica) unlink() {
	if r.link != nil {
		r.link.end()
		r.link = nil
	}
}

// join brings the replica to the state of the leader, or makes it a candidate for being one.
func (r *Replica) join() {
	if leader := r.e.leader; leader != nil && leader != r {
		if r.looking = !r.e.reach(leader, r); !r.looking {
			r.tree, r.behind, r.lagging = leader.tree.clone(), nil, false
		}
	}
	r.e.elect()
}

// tick does the work that ZooKeeper does once in a tick: sessions expire, silent connections are
// closed, and empty containers are reaped.
func (e *ensemble) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	now := e.clock.Now()
	e.ticked = now
	if e.leader != nil && !e.leader.paused() {
		e.expireSessions(now)
	}
	for _, r := range e.replicas {
		r.dropSilent(now)
	}
	if e.reapEvery >= e.tickTime && now.Sub(e.lastReap) >= e.reapEvery {
		e.reap(now)
	}
	e.stopTick = e.clock.AfterFunc(e.tickTime, e.tick)
}

// reapBetweenTicks reaps more often than there are ticks.
func (e *ensemble) reapBetweenTicks() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.reap(e.clock.Now())
	e.stopReap = e.clock.AfterFunc(e.reapEvery, e.reapBetweenTicks)
}

// pulse does the work of each half tick: the leader and its followers exchange pings, and give up
// replicas that they have not heard of.
func (e *ensemble) pulse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.stopPulse = e.clock.AfterFunc(e.tickTime/2, e.pulse)
	if e.leader == nil {
		return
	}
	if !e.leader.paused() {
		for _, r := range e.replicas {
			if r.link != nil {
				r.link.down.add(message{deliver: r.answerPing, ping: true})
			}
		}
	}
	e.part()
	e.reunite()
}

// part has followers and leader part that have not heard of each other for the sync limit.
func (e *ensemble) part() {
	since := e.clock.Now().Add(-time.Duration(e.syncLimit) * e.tickTime)
	parted := false
	for _, r := range e.replicas {
		if r.link != nil && r.link.silent(since) {
			r.looking, parted = true, true
			r.unlink()
			r.dropClients()
		}
	}
	if parted {
		e.elect()
	}
}

// reunite has replicas join the leader again that can reach it.
func (e *ensemble) reunite() {
	for _, r := range e.replicas {
		if r.looking && r.running && r.cut == connected && e.leader != nil && e.reach(e.leader, r) {
			r.join()
		}
	}
}

// reap deletes containers whose last child has gone, and nodes that have outlived their time without one.
// A container that never had a child stays.
func (e *ensemble) reap(now time.Time) {
	if e.leader != nil && e.leader.paused() {
		return // it reaps when it goes on
	}
	e.lastReap = now
	if e.leader == nil {
		return
	}
	t := e.leader.tree
	for _, path := range slices.Clone(t.reapable.items) {
		n := t.nodes[path]
		if n == nil || n.children.len() > 0 {
			continue
		}
		switch life(n.stat.owner) {
		case container:
			if n.stat.cversion == 0 {
				continue
			}
		case timed:
			ttl := n.stat.owner & maxTTL
			if now.UnixMilli()-n.stat.mtime <= ttl {
				continue
			}
		}
		e.enter(func() { e.reapNode(path) })
	}
}

func (e *ensemble) reapNode(path string) {
	x := &txn{op: OpDeleteContainer, zxid: e.nextZxid(), time: e.millis()}
	p := preparation{tree: e.leader.tree, zxid: x.zxid, now: x.time}
	made, refused := p.deleteContainer(path)
	if refused != codeOK {
		x.op, x.code = opError, refused
	} else {
		x.parts = []part{made}
	}
	e.commit(x)
}
