package walk

import "github.com/turnstile-locks/turnstile/messages"

// moveKind names what can happen next.
type moveKind uint8

// What goes on by itself.
const (
	begins moveKind = iota
	lingers
	hears
	hearsLate // as hears, but the orders that follow stay in the mailbox for a while
	takes
	applies
	appliesOnly // in a prompt plan: the answer comes later
	appliesLast // in a prompt plan: the answer is lost with the connection
	appliesTogether
	delivers
	fires
	reconnects
	reconnectsLagging
	collapses // the connection of a session that the servers have ended
	catchesUp
	buries
	beats
	retries
	settlesAgain
	learnsOfEnd

	// What a net is for.

	polls
	restEnds

	// What others want.

	releases
	releasesEarly // before it holds, or again
	cancels
	timesOut
	revokes
	graceEnds

	// What goes wrong.

	stops
	cuts
	silences
	lapses
	expires
	breaks
	reaps
	closes
)

// goesOn tells whether a move is one of those that come by themselves.
func (k moveKind) goesOn() bool { return k < polls }

// expected tells whether a move may be counted on when it is asked whether everything comes to an end:
// what goes on, and the owner's release.
func (k moveKind) expected() bool {
	switch k {
	case lingers, hearsLate, appliesTogether, appliesOnly, appliesLast, reconnectsLagging:
		return false
	case releases, graceEnds, polls, restEnds:
		return true
	default:
		return k.goesOn()
	}
}

// move is one thing that happens. What the numbers mean depends on the kind.
type move struct {
	kind moveKind
	a, b uint8
}

// Ways to lose a connection: move.b.
const (
	repliesLost  = 1
	requestsWait = 2
)

// moves lists all that can happen next.
func (w *world) moves(into []move) []move {
	if i := w.inHaste(); i >= 0 {
		into = append(into, move{hears, uint8(i), 0})
		if w.left.Late > 0 {
			into = append(into, move{hearsLate, uint8(i), 0})
		}
		if w.left.Slow > 0 && w.contenders[i].inbox.n < full {
			into = append(into, move{lingers, uint8(i), 0})
		}
		return into
	}
	for i := range w.plan.Sessions {
		into = w.movesOfContender(into, i)
	}
	for s := range w.sessions {
		into = w.movesOfSession(into, s)
	}
	if w.left.Breaks > 0 {
		for at, n := range w.zk.nodes.all() {
			if !n.doomed {
				into = append(into, move{breaks, uint8(at), 0})
			}
		}
	}
	if w.left.Reaps > 0 && w.zk.nodes.n == 0 && w.zk.sequence > 0 {
		into = append(into, move{reaps, 0, 0})
	}
	return into
}

// inHaste gives a contender that reads its mailbox before anything else happens, -1 when there is none.
func (w *world) inHaste() int {
	for i := range w.plan.Sessions {
		c := &w.contenders[i]
		if c.inbox.n >= full || c.inbox.n > 0 && !c.slow && w.left.Slow != Always {
			return i
		}
	}
	return -1
}

// full is how much mail a lock actor lets gather at most. One move may add three messages.
const full = room - 3

func (w *world) movesOfContender(into []move, i int) []move {
	c, s := &w.contenders[i], w.sessionOf(i)
	may := func(when bool, kind moveKind) {
		if when {
			into = append(into, move{kind, uint8(i), 0})
		}
	}
	if !c.begun {
		may(true, begins)
		return into
	}
	may(c.outbox.n > 0, takes)
	may(c.terminated && c.outbox.n == 0, learnsOfEnd) // the farewell comes behind all orders
	may(c.known.settleDue, settlesAgain)
	may(c.known.rest.resting && c.known.rest.next == 0, restEnds)
	may(w.beats(i), beats)
	if c.stopped {
		return into
	}
	may(c.inbox.n > 0, hears)
	may(c.inbox.n > 0 && w.left.Late > 0, hearsLate)
	recovering := c.State == messages.StateRecovering
	may(c.poll != 0 && recovering, retries)
	may(c.poll != 0 && !recovering && w.left.Polls > 0, polls)
	may(c.machine().Holding(), releases)
	may(!c.machine().Holding() && w.left.Releases > 0, releasesEarly)
	may(w.left.Cancels > 0, cancels)
	may(w.left.Timeouts > 0, timesOut)
	may(w.left.Revokes > 0, revokes)
	may(c.grace, graceEnds)
	may(w.left.Stops > 0 && !s.ending, stops)
	return into
}

func (w *world) movesOfSession(into []move, s int) []move {
	sess := &w.sessions[s]
	may := func(when bool, kind moveKind, b int) {
		if when {
			into = append(into, move{kind, uint8(s), uint8(b)})
		}
	}
	doomed := false
	for _, n := range w.zk.nodes.all() {
		doomed = doomed || n.doomed && int(n.session) == s
	}
	may(doomed, buries, 0)
	if sess.ending || !w.used(s) {
		return into
	}
	var open, answered bool
	for at, t := range sess.tasks.all() {
		if !t.applied && sess.linked && sess.alive {
			may(true, applies, at)
			may(w.plan.Prompt && w.left.Slow > 0, appliesOnly, at)
			may(w.plan.Prompt && w.left.Cuts > 0 && !w.plan.Spared[s], appliesLast, at)
		}
		may(t.applied && t.behind == 0, delivers, at)
		open = open || !t.applied
		answered = answered || t.applied && t.result != unknown
	}
	answered = answered || sess.events.n > 0
	may(w.plan.Together && sess.linked && sess.alive && w.mayShare(s), appliesTogether, 0)
	may(sess.events.n > 0, fires, 0)
	may(!sess.linked && !sess.over, reconnects, 0)
	may(!sess.linked && sess.alive && w.left.Lags > 0 && sess.seen < w.zk.zxid, reconnectsLagging, 0)
	may(sess.lagging, catchesUp, 0)
	may(sess.linked && !sess.alive, collapses, 0)
	if w.plan.Spared[s] {
		return into
	}
	if w.left.Cuts > 0 && sess.linked && sess.alive {
		may(true, cuts, 0)
		may(answered, cuts, repliesLost)
		may(open, cuts, requestsWait)
		may(answered && open, cuts, repliesLost|requestsWait)
	}
	may(w.left.Silences > 0 && w.hasHolder(s), silences, 0)
	may(sess.lease && w.left.Lapses > 0, lapses, 0)
	over := !sess.lease || w.mistake(ExpireEarly)
	may(sess.alive && over && w.left.Expiries > 0, expires, 0)
	may(w.left.Closes > 0, closes, 0)
	return into
}

// hasHolder tells whether a session that believes to be connected knows of a request that holds.
func (w *world) hasHolder(s int) bool {
	for i := range w.members(s) {
		if r := &w.contenders[i].known; w.sessions[s].up && r.granted && !r.gone {
			return true
		}
	}
	return false
}

// used tells whether a session has contenders.
func (w *world) used(s int) bool {
	for range w.members(s) {
		return true
	}
	return false
}
