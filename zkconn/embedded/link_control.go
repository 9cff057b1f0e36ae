package embedded

import "time"

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

// DelayTo delays everything that the replica sends to another by d.
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

// Following tells whether the replica leads, or follows the leader on a link that carries
// everything both ways.
func (r *Replica) Following() bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.following() && !r.paused() && (r.link == nil || r.link.down.flows() && r.link.up.flows())
}

// LoseTouch makes the follower lose one touch of a session, as ZooKeeper's does when a packet comes
// at the moment at which its table of touches is swapped for the leader's ping. The next ping is
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
