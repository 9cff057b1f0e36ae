package embedded

import "time"

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

// pulse is what the leader and its followers do each half tick: pings, and giving up those that are
// not heard of.
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
