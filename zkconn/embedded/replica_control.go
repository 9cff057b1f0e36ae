package embedded

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Addr is the replica's address, host:port.
func (r *Replica) Addr() string { return r.addr }

// ErrLeader is returned by Lag for the leader, which cannot lag behind itself.
var ErrLeader = errors.New("embedded: the leader cannot lag")

// Lag freezes the state that the replica shows: reads through it are answered as of now, however
// much is committed after. A write or a sync through it brings it up to date, and then it lags
// again from there.
func (r *Replica) Lag() error {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r == r.e.leader {
		return fmt.Errorf("%w: replica %d at %s", ErrLeader, r.number, r.addr)
	}
	r.lagging = true
	return nil
}

// CatchUp ends Lag: everything that was committed is applied, and its watches fire.
func (r *Replica) CatchUp() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.lagging = false
	r.catchUp()
}

// CutOff takes the replica's links to the others away. To its clients it goes on as before: pings
// and reads are answered, from its own tree. Writes, syncs and new sessions wait, and the leader
// hears no more of its clients' sessions. If it was the leader itself, the others elect another
// when they are a majority. The old one goes on answering sync, because it does not know.
func (r *Replica) CutOff() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.cut != connected || r.paused() || !r.running {
		return
	}
	r.cut = cutOff
	if r == r.e.leader {
		r.cut = deposed
	}
	r.e.elect()
}

// Rejoin ends CutOff: the replica drops its clients, as ZooKeeper's do when they have lost their
// leader, and takes over the others' state.
func (r *Replica) Rejoin() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.cut == connected {
		return
	}
	r.cut = connected
	r.dropClients()
	r.join()
}

// Stop ends the replica as if its process were killed: its connections are closed, and its port.
// Its data stay.
func (r *Replica) Stop() {
	r.control.Lock()
	defer r.control.Unlock()
	r.e.mu.Lock()
	if r.running {
		r.wakeUp()
		r.running, r.cut, r.looking = false, connected, false
		r.dropClients()
		if r.listener != nil {
			_ = r.listener.Close()
		}
		r.e.elect()
	}
	r.e.mu.Unlock()
	r.tasks.Wait()
}

// Start starts a replica that was stopped, on its old address. Sessions live on if their time has
// not run out on another replica.
func (r *Replica) Start() error {
	r.control.Lock()
	defer r.control.Unlock()
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.running || r.e.closed {
		return nil
	}
	if !r.e.memory {
		if err := r.listen(); err != nil {
			return fmt.Errorf("embedded: replica %d: %w", r.number, err)
		}
		r.run()
	}
	r.running = true
	r.join()
	return nil
}

// Refuse makes the replica refuse new connections, or accept them again. Open connections stay.
func (r *Replica) Refuse(refuse bool) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.refusing = refuse
}

// HoldReplies keeps all replies and events of the replica, on every connection, until
// ReleaseReplies. Requests are carried out all the same.
func (r *Replica) HoldReplies() { r.holdReplies(true) }

// ReleaseReplies sends the replies that HoldReplies has kept.
func (r *Replica) ReleaseReplies() { r.holdReplies(false) }

func (r *Replica) holdReplies(hold bool) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.held == hold {
		return
	}
	r.held = hold
	by := -1
	if hold {
		by = 1
	}
	for _, c := range r.conns.items {
		c.out.hold(by)
	}
}

// DropClients closes every connection of the replica, once.
func (r *Replica) DropClients() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.dropClients()
}

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
// the requests that were sent to it. If the others have elected another leader, it does not know so
// for another half tick: until then it answers reads, pings and syncs from its own tree.
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

// HoldRequests keeps all requests to the replica unread, on every connection, until
// ReleaseRequests.
func (r *Replica) HoldRequests() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.unheard = true
}

// ReleaseRequests reads the requests that HoldRequests has kept.
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

// Following reports whether the replica leads, or follows the leader on a link that carries
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
