package walk

// What is here are the servers' watches on the children of the lock path, and what a server that lags tells of them.

// childrenWatchesFire: the queue has changed. A server that lags says so when it has caught up; the new nodes are what
// it does not show.
func (w *world) childrenWatchesFire() {
	for s := range w.sessions {
		if w.zk.watched[s] && !w.sessions[s].lagging {
			w.zk.watched[s] = false
			w.sessions[s].events.push(event{kind: childrenChanged})
		}
	}
}

// catchUp: the server behind a connection lags no more.
func (w *world) catchUp(s int) {
	sess := &w.sessions[s]
	behind := sess.lagging && sess.seen < w.zk.zxid
	sess.lagging = false
	if behind {
		w.childrenWatchesFire()
	}
}
