package embedded

import (
	"errors"
	"fmt"
)

// Addr is the replica's address, host:port.
func (r *Replica) Addr() string { return r.addr }

// ErrLeader is returned by Lag for the leader, which cannot lag behind itself.
var ErrLeader = errors.New("embedded: the leader cannot lag")

// Lag freezes what the replica shows: reads through it are answered as of now, however much is
// committed after. A write or a sync through it brings it up to date, and then it lags again from
// there.
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
// and reads are answered, from what it has. Writes, syncs and new sessions wait, and the leader
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

// Rejoin ends CutOff: the replica drops its clients, as ZooKeeper's do when they have lost their leader,
// and takes over what the others have.
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

// Stop ends the replica as if its process were killed: its connections are closed, and its port. What it
// has stays.
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

// HoldReplies keeps everything that the replica would send, on every connection, until ReleaseReplies.
// Requests are carried out all the same.
func (r *Replica) HoldReplies() { r.holdReplies(true) }

// ReleaseReplies sends what HoldReplies has kept.
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
