package embedded

import "slices"

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

// quorate means that what the leader proposes is acknowledged by a majority.
func (e *ensemble) quorate() bool {
	have := 1
	for _, r := range e.replicas {
		if r.link != nil && r.link.down.flows() && r.link.up.flows() {
			have++
		}
	}
	return 2*have > len(e.replicas)
}

// enter has the leader carry out a request for a transaction, behind those that wait for a
// majority.
func (e *ensemble) enter(request func()) {
	e.intake = append(e.intake, request)
	e.drain()
}

func (e *ensemble) drain() {
	for len(e.intake) > 0 && e.leader != nil && e.quorate() {
		next := e.intake[0]
		e.intake = e.intake[1:]
		next()
	}
}

// flow lets everything go on that a stall or a pause has kept.
func (e *ensemble) flow() {
	for _, r := range slices.Clone(e.replicas) {
		if l := r.link; l != nil {
			l.down.flow()
			l.up.flow()
		}
	}
	e.drain()
}
