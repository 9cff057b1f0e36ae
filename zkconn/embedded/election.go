package embedded

import "time"

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

// relink connects those that follow the leader with it, and nobody else.
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

// unlink ends a follower's connection to its leader. What was under way is lost.
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
