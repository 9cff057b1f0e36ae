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

	lines  map[[2]*Replica]line // the network, where something is wrong with it
	intake []func()             // requests that the leader has, and no majority yet to carry them out
	newest *tree                // of the leader, or of the last one: a majority has it

	faults    []*Injection
	stopTick  func()
	stopPulse func()
	ticked    time.Time // the newest tick
	lastReap  time.Time
	closed    bool
}

func (e *ensemble) nextZxid() int64 {
	e.zxid++
	return e.zxid
}

func (e *ensemble) millis() int64 { return e.clock.Now().UnixMilli() }

// commit gives a transaction to every replica that follows the leader. Those that lag keep it for later.
func (e *ensemble) commit(x *txn) { e.commitFrom(nil, x, nil) }

// commitFrom is commit for a request that came to a replica. That one has it applied when it answers,
// however much it lags.
func (e *ensemble) commitFrom(via *Replica, x *txn, answer func([]result)) {
	for _, r := range e.replicas {
		if !r.following() {
			continue
		}
		deliver := func() {
			r.behind = append(r.behind, x)
			if !r.lagging || r == via {
				r.catchUp()
			}
			if results := r.results; r == via {
				r.results = nil
				answer(results)
			}
		}
		r.fromLeader(deliver)
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
	e.ticked = now
	if e.leader != nil && !e.leader.paused {
		e.expireSessions(now)
	}
	for _, r := range e.replicas {
		r.dropSilent(now)
	}
	if now.Sub(e.lastReap) >= e.reapEvery && !(e.leader != nil && e.leader.paused) {
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
		e.enter(func() { e.reapNode(path) })
	}
}

func (e *ensemble) reapNode(path string) {
	x := &txn{op: OpDeleteContainer, zxid: e.nextZxid(), time: e.millis()}
	p := preparation{tree: e.leader.tree, zxid: x.zxid, now: x.time}
	made, refused := p.reap(path)
	if refused != codeOK {
		x.op, x.code = opError, refused
	} else {
		x.parts = []part{made}
	}
	e.commit(x)
}
