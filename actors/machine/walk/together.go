package walk

import "github.com/turnstile-locks/turnstile/actors/machine"

// What is here stands for group commit (actors/batching.go), as far as it shows: creates of one transaction have one
// transaction number, and are told apart by their places; and their answers are taken together. Deletes that share a
// transaction, and creates that are asked for anew one by one when it was refused, are like any others.

// mayShare tells whether a session has creates that may share a transaction.
func (w *world) mayShare(s int) bool {
	n := 0
	for _, t := range w.sessions[s].tasks.all() {
		if t.Do == machine.Create && !t.applied && !w.contest(int(t.contender)) {
			n++
		}
	}
	return n > 1
}

// applyTogether lets the servers carry out all creates of a session in one transaction.
func (w *world) applyTogether(s int) {
	sess := &w.sessions[s]
	w.catchUp(s)
	w.zk.zxid++
	was, place := w.zk.nodes.n, uint8(0)
	for at := range sess.tasks.all() {
		t := &sess.tasks.at[at]
		if t.Do != machine.Create || t.applied {
			continue
		}
		w.makeNode(s, t)
		t.applied, t.shared, t.place, t.zxid = true, true, place, w.zk.zxid
		w.contenders[t.contender].known.mates = true
		t.alone = was == 0 && place == 0
		place++
	}
	w.childrenWatchesFire()
	for at := range sess.tasks.all() {
		if t := &sess.tasks.at[at]; t.shared && t.Do == machine.Create && t.result != unknown {
			t.behind = sess.events.n
		}
	}
	if !w.plan.Prompt || sess.events.n > 0 {
		return
	}
	w.deliverShared(s)
}

// deliverShared brings the answers to creates of one transaction, which come as one.
func (w *world) deliverShared(s int) {
	tasks := &w.sessions[s].tasks
	for place := range uint8(maxContenders) {
		for at, t := range tasks.all() {
			if t.Do == machine.Create && t.shared && t.result != unknown && t.place == place {
				w.deliver(s, at)
				return // which brings the others
			}
		}
	}
}
