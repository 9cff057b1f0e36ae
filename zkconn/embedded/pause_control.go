package embedded

import "slices"

// Pause stops the replica as SIGSTOP stops a process: it reads and sends nothing, its ports stay
// open. A leader that is paused pings nobody and ends no session. After the sync limit the others
// go on without it.
func (r *Replica) Pause() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.paused() || !r.running {
		return
	}
	r.pause = asleep
	for _, c := range r.conns.items {
		c.out.hold(+1)
	}
}

// Resume ends Pause. A leader first ends the sessions whose time ran out meanwhile, and then reads
// what was sent to it. If the others have elected another leader, it does not know that for another
// half tick: until then it answers reads, pings and syncs from what it has.
func (r *Replica) Resume() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if !r.paused() {
		return
	}
	if r == r.e.leader {
		r.e.expireSessions(r.e.ticked)
	}
	was := r.pause
	r.wakeUp()
	switch was {
	case asleepOverthrown:
		r.looking, r.cut = false, deposed
		r.e.clock.AfterFunc(r.e.tickTime/2, r.Rejoin)
	case asleepDropping:
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

func (r *Replica) readOn() {
	for _, c := range slices.Clone(r.conns.items) {
		if !r.deaf() {
			c.readOn()
		}
	}
}
