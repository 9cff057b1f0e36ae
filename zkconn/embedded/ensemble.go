package embedded

import (
	"slices"
	"sync"
	"time"
)

// ensemble is what the replicas have in common, the leader's part of it among it. One lock guards all of
// it, the trees included: the work under it takes microseconds, and one order of everything is what makes
// the server easy to trust. Nobody waits for the network under it.
type ensemble struct {
	settings
	mu       sync.Mutex
	secret   [32]byte
	replicas []*Replica
	leader   *Replica // nil while there is no majority
	zxid     int64    // the newest that was given out: epoch << 32 | counter

	sessions     map[int64]*session
	sessionOrder set[int64]
	nextSession  int64

	faults   []*Injection
	stopTick func()
	lastReap time.Time
	closed   bool
}

func (e *ensemble) nextZxid() int64 {
	e.zxid++
	return e.zxid
}

func (e *ensemble) millis() int64 { return e.clock.Now().UnixMilli() }

// commit gives a transaction to every replica that follows the leader. Those that lag keep it for later.
func (e *ensemble) commit(x *txn) {
	for _, r := range e.replicas {
		if r.following() {
			r.behind = append(r.behind, x)
			if !r.lagging {
				r.catchUp()
			}
		}
	}
}

// commitFrom is commit for a request that came to a replica. That one has it applied when it answers,
// however much it lags.
func (e *ensemble) commitFrom(via *Replica, x *txn) []result {
	e.commit(x)
	via.catchUp()
	results := via.results
	via.results = nil
	return results
}

// candidates are the replicas that can reach each other.
func (e *ensemble) candidates() (all []*Replica) {
	for _, r := range e.replicas {
		if r.running && !r.cut {
			all = append(all, r)
		}
	}
	return all
}

// elect sees to it that there is a leader when a majority can reach each other, and none otherwise. When
// the leader changes, every replica drops its clients, as ZooKeeper's do.
func (e *ensemble) elect() {
	all := e.candidates()
	if 2*len(all) <= len(e.replicas) {
		e.leader = nil
		for _, r := range all {
			r.dropClients()
		}
		return
	}
	if e.leader != nil && slices.Contains(all, e.leader) {
		return
	}
	for _, r := range all {
		r.catchUp()
		r.lagging = false
	}
	first := all[0]
	for _, r := range all {
		if r.tree.zxid > first.tree.zxid {
			first = r
		}
	}
	for _, r := range all {
		r.dropClients()
		if r.tree.zxid != first.tree.zxid {
			r.tree = first.tree.clone()
		}
	}
	e.leader = first
	if len(e.replicas) > 1 {
		e.zxid = (e.zxid>>32 + 1) << 32
		for _, r := range all {
			r.tree.zxid = e.zxid
		}
	}
	for _, s := range e.sessions {
		s.at = nil
		e.touch(s) // a new leader gives everybody their full time
	}
}

// tick does what ZooKeeper does once in a tick: sessions expire, silent connections are closed, and empty
// containers are reaped.
func (e *ensemble) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	now := e.clock.Now()
	e.expireSessions(now)
	for _, r := range e.replicas {
		r.dropSilent(now)
	}
	if now.Sub(e.lastReap) >= e.reapEvery {
		e.lastReap = now
		e.reap(now)
	}
	e.stopTick = e.clock.AfterFunc(e.tickTime, e.tick)
}

// reap deletes containers whose last child has gone, and nodes that have outlived their time without one.
// A container that never had a child stays.
func (e *ensemble) reap(now time.Time) {
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
		x := &txn{op: OpDeleteContainer, zxid: e.nextZxid(), time: now.UnixMilli()}
		p := preparation{tree: t, zxid: x.zxid, now: x.time}
		made, refused := p.reap(path)
		if refused != codeOK {
			x.op, x.code = opError, refused
		} else {
			x.parts = []part{made}
		}
		e.commit(x)
	}
}
