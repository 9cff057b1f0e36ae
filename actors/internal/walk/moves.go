package walk

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// sessionTimeout is that of all sessions; no time passes.
const sessionTimeout = 10 * time.Second

// moveKind names what can happen next.
type moveKind uint8

// What goes on by itself.
const (
	begins moveKind = iota
	hears
	takes
	applies
	appliesOnly // in a prompt plan: the answer comes later
	appliesLast // in a prompt plan: the answer is lost with the connection
	delivers
	fires // an event on the wire
	rings // a timer
	reconnects
	reconnectsLagging
	collapses // the connection of a session that the servers have ended
	catchesUp
	buries
	beats
	retries

	// What a net is for.

	polls
	retentionEnds

	// What others want.

	releases
	releasesEarly // before it holds, or again
	cancels
	timesOut
	revokes
	graceEnds

	// What goes wrong.

	lingers // a lock actor leaves its mailbox for a while
	dawdles // a session does
	stops
	cuts
	silences
	lapses
	expires
	breaks
	asksBack
	reaps
	closes
)

// goesOn tells whether a move is one of those that come by themselves.
func (k moveKind) goesOn() bool { return k < polls }

// expected tells whether a move may be counted on when it is asked whether everything comes to an end: what goes on, and the
// owner's release.
func (k moveKind) expected() bool {
	switch k {
	case appliesOnly, appliesLast, reconnectsLagging:
		return false
	case releases, graceEnds, polls, retentionEnds:
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

// may adds a move when it can happen.
type mayMove func(when bool, kind moveKind, b int)

// full is how much mail a lock actor lets gather at most before it reads.
const full = 4

// moves lists all that can happen next.
func (w *world) moves(into []move) []move {
	for i := range w.plan.Sessions {
		if len(w.actors[i].inbox) >= full {
			return append(into, move{hears, uint8(i), 0})
		}
	}
	for i := range w.plan.Sessions {
		w.movesOfActor(i, func(when bool, kind moveKind, b int) {
			if when {
				into = append(into, move{kind, uint8(i), uint8(b)})
			}
		})
	}
	for s := range w.sessions {
		if slices.Contains(w.plan.Sessions, s) {
			w.movesOfSession(s, func(when bool, kind moveKind, b int) {
				if when {
					into = append(into, move{kind, uint8(s), uint8(b)})
				}
			})
		}
	}
	for at, n := range w.servers.nodes {
		if !n.doomed && w.left.Breaks > 0 {
			into = append(into, move{breaks, uint8(at), 0})
		}
		if !n.doomed && !n.wanted && w.left.Asks > 0 {
			into = append(into, move{asksBack, uint8(at), 0})
		}
	}
	if w.left.Reaps > 0 && len(w.servers.nodes) == 0 && w.servers.sequence > 0 {
		into = append(into, move{reaps, 0, 0})
	}
	return into
}

func (w *world) movesOfActor(i int, may mayMove) {
	a, s := &w.actors[i], w.sessionOf(i)
	if !a.begun {
		may(true, begins, 0)
		return
	}
	if a.stopped {
		return
	}
	may(len(a.inbox) > 0, hears, 0)
	may(w.left.Slow > 0 && w.left.Slow != Always && !a.slow && len(s.flights)+len(s.wire) > 0, lingers, 0)
	recovering := a.m.State == messages.StateRecovering
	may(a.poll != 0 && recovering, retries, 0)
	may(a.poll != 0 && !recovering && w.left.Polls > 0, polls, 0)
	may(a.m.Holding(), releases, 0)
	may(!a.m.Holding() && w.left.Releases > 0, releasesEarly, 0)
	may(w.left.Cancels > 0, cancels, 0)
	may(w.left.Timeouts > 0, timesOut, 0)
	may(w.left.Revokes > 0, revokes, 0)
	may(a.grace, graceEnds, 0)
	may(w.left.Stops > 0 && !s.ending, stops, 0)
}

func (w *world) movesOfSession(s int, may mayMove) {
	sess := &w.sessions[s]
	may(slices.ContainsFunc(w.servers.nodes, func(n node) bool { return n.doomed && n.session == s }), buries, 0)
	may(len(sess.mailbox) > 0, takes, 0)
	if sess.ending {
		return
	}
	may(w.left.Late > 0 && !sess.late, dawdles, 0)
	open, answered := false, len(sess.wire) > 0
	for at, f := range sess.flights {
		if !f.applied && sess.linked && sess.alive {
			may(true, applies, at)
			may(w.plan.Prompt && w.left.Slow > 0, appliesOnly, at)
			may(w.plan.Prompt && w.left.Cuts > 0 && !w.plan.Spared[s], appliesLast, at)
		}
		may(f.applied && f.behind == 0, delivers, at)
		open = open || !f.applied
		answered = answered || f.applied && !f.lost
	}
	may(len(sess.wire) > 0, fires, 0)
	for _, kind := range w.timers(s) {
		may(kind == coordinator.RetentionTimer, retentionEnds, 0)
		may(kind != coordinator.RetentionTimer, rings, int(kind))
	}
	may(w.beatTells(s), beats, 0)
	may(!sess.linked && !sess.over, reconnects, 0)
	may(!sess.linked && sess.alive && w.left.Lags > 0 && sess.seen < w.servers.zxid, reconnectsLagging, 0)
	may(sess.lagging, catchesUp, 0)
	may(sess.linked && !sess.alive, collapses, 0)
	if w.plan.Spared[s] {
		return
	}
	if w.left.Cuts > 0 && sess.linked && sess.alive {
		may(true, cuts, 0)
		may(answered, cuts, repliesLost)
		may(open, cuts, requestsWait)
		may(answered && open, cuts, repliesLost|requestsWait)
	}
	may(w.left.Silences > 0 && sess.up && w.hasTimer(s, coordinator.BeatTimer), silences, 0)
	may(sess.lease && w.left.Lapses > 0, lapses, 0)
	may(sess.alive && (!sess.lease || w.mistake(ExpireEarly)) && w.left.Expiries > 0, expires, 0)
	may(w.left.Closes > 0, closes, 0)
}

// timers lists the kinds of timers that may fire now: those of heartbeats have moves of their own, and that of the lease
// fires when the lease is over.
func (w *world) timers(s int) (kinds []coordinator.TimerKind) {
	for _, kind := range w.sessions[s].decides.Timers {
		switch kind {
		case coordinator.BeatTimer, coordinator.LateTimer, coordinator.LeaseTimer, coordinator.ReadTimer:
		default:
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// timer gives the oldest timer of a kind; zero for none.
func (w *world) timer(s int, of coordinator.TimerKind) (oldest uint64) {
	for timer, kind := range w.sessions[s].decides.Timers {
		if kind == of && (oldest == 0 || timer < oldest) {
			oldest = timer
		}
	}
	return oldest
}

func (w *world) hasTimer(s int, of coordinator.TimerKind) bool { return w.timer(s, of) != 0 }

// beatTells tells whether a heartbeat would find that a node is gone.
func (w *world) beatTells(s int) bool {
	sess := &w.sessions[s]
	if !sess.up || !sess.linked || !sess.alive || !w.hasTimer(s, coordinator.BeatTimer) {
		return false
	}
	for name := range sess.decides.Nodes {
		if w.servers.at(name) < 0 {
			return true
		}
	}
	return false
}

var moveTexts = map[moveKind]string{
	begins: "%s asks for the lock", hears: "%s reads its mailbox", retries: "%s looks again", polls: "%s polls",
	releases: "%s is released", releasesEarly: "%s is released", cancels: "%s is cancelled", timesOut: "%s has waited for long enough",
	revokes: "%s is asked to give back", graceEnds: "%s: the grace period ends", lingers: "%s leaves its mailbox", stops: "%s is stopped",
}

// describe tells a move.
func (w *world) describe(m move) string {
	if text := moveTexts[m.kind]; text != "" {
		return fmt.Sprintf(text, actorName(int(m.a)))
	}
	switch m.kind {
	case breaks, asksBack:
		verb := map[moveKind]string{breaks: "deletes", asksBack: "wants the lock of"}[m.kind]
		return fmt.Sprintf("an operator %s %s", verb, w.servers.nodes[m.a].name)
	case reaps:
		return "the empty lock path is deleted"
	}
	return fmt.Sprintf("session %s: %s", sessionName(int(m.a)), w.describeOfSession(m))
}

func (w *world) describeOfSession(m move) string {
	sess := &w.sessions[m.a]
	query := func() string {
		return fmt.Sprintf("%T of stage %d", sess.flights[m.b].query, sess.flights[m.b].stage)[len("*coordinator."):]
	}
	switch m.kind {
	case applies:
		return "the servers carry out " + query()
	case appliesOnly:
		return "the servers carry out, and answer later, " + query()
	case appliesLast:
		return "the connection is lost with the answer to " + query()
	case delivers:
		return "the answer comes to " + query()
	case rings:
		return fmt.Sprintf("timer %d", m.b)
	case cuts:
		return fmt.Sprintf("the connection is lost (answers lost: %v, requests wait: %v)", m.b&repliesLost != 0, m.b&requestsWait != 0)
	}
	return map[moveKind]string{takes: "it reads its mailbox", fires: "an event arrives", reconnects: "a server is found",
		reconnectsLagging: "a server is found that lags", collapses: "the servers, which have ended it, cut the connection",
		catchesUp: "its server catches up", buries: "the nodes of the session that is over are deleted", beats: "a heartbeat",
		retentionEnds: "a node was retained for long enough", dawdles: "it leaves its mailbox", silences: "a heartbeat is late",
		lapses: "the lease runs out", expires: "the servers end the session", closes: "it is closed"}[m.kind]
}
