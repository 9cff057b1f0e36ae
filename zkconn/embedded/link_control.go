package embedded

import (
	"slices"
	"time"
)

// StallTo stalls the link from the replica to another, in this direction only: nothing that it
// sends arrives until HealTo, and then all of it does, in its order. Connections to clients are not
// concerned.
//
// From the leader to a follower, transactions and pings stall. The follower's clients get no
// answers to writes and syncs, while the leader carries them out; and it hears nothing of their
// sessions. From a follower to the leader, requests and answers to pings stall. A transaction needs
// links in both directions between the leader and a majority.
//
// A follower and a leader that do not hear of each other for the sync limit part: the follower
// drops its clients, and joins again when the link is healed.
func (r *Replica) StallTo(other *Replica) { r.setLine(other, line{stalled: true}) }

// HealTo ends StallTo and DelayTo.
func (r *Replica) HealTo(other *Replica) { r.setLine(other, line{}) }

// DelayTo has everything that the replica sends to another arrive later by d.
func (r *Replica) DelayTo(other *Replica, d time.Duration) { r.setLine(other, line{delay: max(d, 0)}) }

func (r *Replica) setLine(other *Replica, to line) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.e.lines[[2]*Replica{r, other}] = to
	if r.e.leader == nil {
		r.e.elect()
	}
	r.e.flow()
}

// Pause stops the replica as SIGSTOP stops a process: it reads and sends nothing, its ports stay
// open. A leader that is paused pings nobody and ends no session. After the sync limit the others
// go on without it.
func (r *Replica) Pause() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.paused || !r.running {
		return
	}
	r.paused = true
	for _, c := range r.conns.items {
		c.out.hold(+1)
	}
}

// Resume ends Pause. A leader first ends the sessions whose time ran out meanwhile, and then reads
// what was sent to it. A leader that the others have left does not know it for another half tick:
// until then it answers reads, pings and syncs from what it has.
func (r *Replica) Resume() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if !r.paused {
		return
	}
	if r == r.e.leader {
		r.e.expireSessions(r.e.ticked)
	}
	r.wakeUp()
	switch {
	case r.overthrown:
		r.overthrown, r.looking = false, false
		r.cut, r.deposed, r.dropping = true, true, false
		r.e.clock.AfterFunc(r.e.tickTime/2, r.Rejoin)
	case r.dropping:
		r.dropping = false
		r.dropClients()
	}
	if r.e.leader == nil {
		r.e.elect()
	}
	r.e.flow()
	r.readOn()
}

// HoldRequests keeps everything that clients send to the replica unread, on every connection, until
// ReleaseRequests.
func (r *Replica) HoldRequests() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.unheard = true
}

// ReleaseRequests reads what HoldRequests has kept.
func (r *Replica) ReleaseRequests() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.unheard = false
	r.readOn()
}

// deaf means that the replica reads nothing of what clients send.
func (r *Replica) deaf() bool { return r.paused || r.unheard }

func (r *Replica) readOn() {
	for _, c := range slices.Clone(r.conns.items) {
		if !r.deaf() {
			c.readOn()
		}
	}
}

// Following tells whether the replica leads, or follows the leader on a link that carries
// everything both ways.
func (r *Replica) Following() bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.following() && !r.paused && (r.link == nil || r.link.down.flows() && r.link.up.flows())
}

// wakeUp lets a paused replica read and send.
func (r *Replica) wakeUp() {
	if !r.paused {
		return
	}
	r.paused = false
	for _, c := range r.conns.items {
		c.out.hold(-1)
	}
}

// LoseTouch has the follower lose one sign of life of a client, as ZooKeeper's does when it comes
// at the moment at which the table of such signs is swapped for the leader's ping: the next ping is
// read when the next packet of a client comes, and that packet keeps no session alive.
func (r *Replica) LoseTouch() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.losing = true
}

// SetSessionTimeouts bounds what clients that connect to this replica from now on are granted.
// Replicas of one ensemble may differ.
func (r *Replica) SetSessionTimeouts(least, most time.Duration) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.minTimeout, r.maxTimeout = least, max(least, most)
}

// Committing tells whether the ensemble carries writes out now: there is a leader that is not
// paused, and a majority that it can talk to.
func (s *Server) Committing() bool {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.leader != nil && !s.e.leader.paused && s.e.quorate()
}
