package walk

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The kinds of moves, and the tables of those of requests and sessions. To add a kind of move, add a row.

// kind is a kind of moves: one of the things that can happen to a request, to a session or at the servers.
type kind struct {
	text string
	// of tells what the move is about, behind the text.
	of    func(w *world, at, how int) string
	class class
	// bound counts the moves of this kind, unless it is unbounded.
	bound Bound
	// can tells in which ways it can happen now to a request or a session.
	can func(w *world, at int) ways
	do  func(w *world, at, how int)
}

// class says when a move comes.
type class uint8

const (
	wanted  class = iota // somebody wants it
	owed                 // likewise, or it is a net; whether everything comes to an end may count on it
	itself               // it comes by itself, and may be counted on
	perhaps              // it comes by itself, or another move in its place
	fault                // something goes wrong in a session, but in none that is spared
)

// ways is a set of ways in which a move can be made.
type ways uint64

// once is one way, if a move can be made.
func once(when bool) ways {
	if when {
		return 1
	}
	return 0
}

func always(*world, int) ways { return 1 }

// actor, sess and nodes give the ways of moves that depend on one lock actor, session or node, and one what has only
// one way.
func actor(can func(*lockActor) bool) func(*world, int) ways {
	return func(w *world, i int) ways { return once(can(&w.actors[i])) }
}

func sess(can func(*session) bool) func(*world, int) ways {
	return func(w *world, s int) ways { return once(can(&w.sessions[s])) }
}

func nodes(can func(*node) bool) func(*world, int) ways {
	return func(w *world, _ int) (all ways) {
		for at := range w.servers.nodes {
			all |= once(can(&w.servers.nodes[at])) << at
		}
		return all
	}
}

func one(do func(*world, int)) func(*world, int, int) {
	return func(w *world, at, _ int) { do(w, at) }
}

// The first rows of ofActors.
const (
	begins uint8 = iota
	hears
)

// ofActors are the moves of a request that was made and has not ended. begins is for the others.
var ofActors = []kind{
	begins: {text: "asks for the lock", class: itself, can: mayBegin, do: begin},
	hears:  {text: "reads its mailbox", class: itself, can: actor(hasMail), do: one((*world).hear)},
	{text: "looks again", class: itself, can: actor(recovers), do: poll},
	{text: "polls", class: owed, bound: Polls, can: actor(waits), do: poll},
	{text: "is released", class: owed, can: mayRelease, do: command(machine.Release)},
	{text: "is released", bound: Releases, can: actor(holdsNot), do: command(machine.Release)},
	{text: "is cancelled", bound: Cancels, can: always, do: command(machine.Cancel)},
	{text: "has waited for long enough", bound: Timeouts, can: always, do: command(machine.Timeout)},
	{text: "is asked to give back", bound: Revokes, can: always, do: command(machine.Revoke)},
	{text: "asks to be told of others", bound: Attends, can: actor(holdsFast), do: command(machine.WatchContention)},
	{text: "has its node checked", bound: Checks, can: actor(holdsFast), do: command(machine.Check)},
	{text: "reaches the end of its grace period", class: owed, can: actor(inGrace), do: endGrace},
	{text: "leaves its mailbox", bound: Slow, can: canSlow, do: slowDown},
	{text: "is stopped", bound: Stops, can: canStop, do: one((*world).stop)},
}

func hasMail(a *lockActor) bool   { return len(a.inbox) > 0 }
func recovers(a *lockActor) bool  { return a.poll != 0 && a.m.State == messages.StateRecovering }
func waits(a *lockActor) bool     { return a.poll != 0 && a.m.State != messages.StateRecovering }
func holdsNot(a *lockActor) bool  { return !a.m.Holding() }
func inGrace(a *lockActor) bool   { return a.is.any(grace) }
func holdsFast(a *lockActor) bool { return a.m.State.Holding() }

// mayBegin reports whether a request can be made: that within another one, or beside it, while the other's lock is held.
func mayBegin(w *world, i int) ways {
	within, beside := w.plan.Within[i], w.plan.Beside[i]
	return once(w.actors[i].life == unasked && !w.plan.ofCalls(i) && (within == 0 || w.actors[within-1].m.Holding()) &&
		(beside == 0 || w.actors[beside-1].m.State.Holding()))
}

// mayRelease reports whether a lock can be given back: not while another request lives that is within it.
func mayRelease(w *world, i int) ways {
	for j := range w.plan.Sessions {
		if w.plan.Within[j] == i+1 && w.actors[j].lives() {
			return 0
		}
	}
	return once(w.actors[i].m.Holding() && !w.plan.ofCalls(i))
}

func canStop(w *world, i int) ways { return once(!w.sessionOf(i).closed) }

func canSlow(w *world, i int) ways {
	s := w.sessionOf(i)
	return once(w.left[Slow] != Always && !w.actors[i].is.any(slow) && len(s.flights)+len(s.wire) > 0)
}

func slowDown(w *world, i, _ int) { w.actors[i].is.put(slow, true) }

func begin(w *world, i, _ int) {
	if w.actors[i].life = asked; w.plan.Beside[i] > 0 {
		w.actors[i].beside = w.actors[w.plan.Beside[i]-1].m.Node
	}
	w.step(i, machine.Event{Kind: machine.Begin})
}

func poll(w *world, i, _ int) {
	op := w.actors[i].poll
	w.actors[i].poll = 0
	w.step(i, machine.Event{Kind: machine.Poll, Op: op})
}

func endGrace(w *world, i, _ int) {
	w.actors[i].is.put(grace, false)
	w.step(i, machine.Event{Kind: machine.GraceOver})
}

// command gives a request a command of its owner.
func command(of machine.Kind) func(w *world, i, _ int) {
	return func(w *world, i, _ int) { w.step(i, machine.Event{Kind: of}) }
}

// ofSessions are the moves of a session.
var ofSessions = []kind{
	{text: "the nodes of the session that is over are deleted", class: itself, can: hasDoomed, do: one((*world).bury)},
	{text: "it reads its mailbox", class: itself, can: sess(hasOrders), do: one((*world).take)},
	{text: "it leaves its mailbox", bound: Late, can: sess(isQuick), do: dawdle},

	{text: "the servers carry out", of: query, class: itself, can: canApply, do: apply},
	{text: "the servers carry out, and answer later,", of: query, class: perhaps, bound: Slow, can: canWait,
		do: (*world).serve},
	{text: "the connection is lost with the answer to", of: query, class: perhaps, bound: Cuts, can: canLose,
		do: applyLast},
	{text: "the servers put off", of: query, class: perhaps, bound: Defers, can: canDefer, do: (*world).putOff},
	{text: "the answer comes to", of: query, class: itself, can: canAnswer, do: (*world).deliver},
	{text: "an event arrives", class: itself, can: sess(hasEvents), do: one((*world).arrive)},
	{text: "timer", of: number, class: itself, can: setTimers, do: ring},
	{text: "timer", of: number, class: itself, can: looksLate, do: ring},
	{text: "timer", of: number, bound: Looks, can: looksAgain, do: ring},
	{text: "timer", of: number, bound: Ages, can: watchesForLong, do: ring},
	{text: "a heartbeat", class: itself, can: canBeat, do: one((*world).beat)},

	{text: "a server is found", class: itself, can: sess(isUnlinked), do: reconnect(linked)},
	{text: "a server is found that lags", class: perhaps, bound: Lags, can: canLag, do: reconnect(lagging)},
	{text: "its server catches up", class: itself, can: sess(lags), do: one((*world).catchUp)},
	{text: "the servers, which have ended it, cut the connection", class: itself, can: sess(isRefused), do: collapse},

	{text: "the connection is lost", of: howLost, class: fault, bound: Cuts, can: canCut, do: (*world).cut},
	{text: "a heartbeat is late", class: fault, bound: Silences, can: canFallSilent, do: one((*world).silence)},
	{text: "the lease runs out", class: fault, bound: Lapses, can: sess(hasLease), do: one((*world).lapse)},
	{text: "the servers end the session", class: fault, bound: Expiries, can: canExpire, do: one((*world).end)},
	{text: "the servers carry out after all", of: lostQuery, class: fault, bound: Outlives, can: canOutlive,
		do: (*world).carryOutAfterAll},
	{text: "the servers, while the connection is still read, carry out after all", of: lostQuery, class: fault, bound: Moves,
		can: canMove, do: (*world).moveAway},
	{text: "the connection, from which the session has moved, is lost", of: howLost, class: itself, can: canCutMoved,
		do: (*world).cut},
	{text: "its chain of evidence breaks", class: fault, bound: GivesUp, can: sess(isProved), do: one((*world).breakChain)},
	{text: "it gives its session up", class: itself, can: mayGiveUp(true), do: one((*world).giveUp)},
	{text: "it gives its session up, though nobody asks,", can: mayGiveUp(false), do: one((*world).giveUp)},
	{text: "the servers carry out, for the session that was given up,", of: sentQuery, class: perhaps, can: canCarryOutLate,
		do: (*world).serveLate},
	{text: "the servers end the session that was given up", class: itself, can: hasForsaken, do: one((*world).endForsaken)},
	{text: "it is closed", class: fault, bound: Closes, can: sess(isOpen), do: one((*world).closeSession)},
}

// rowTimers are the timers that fire by the general move: heartbeats have their own, a lease runs
// out by a move, and a holder reads its node at once.
const rowTimers = 1<<coordinator.CreatesTimer | 1<<coordinator.DeletesTimer | 1<<coordinator.RetryTimer |
	1<<coordinator.LookTimer | 1<<coordinator.PauseTimer

func hasOrders(s *session) bool  { return len(s.mailbox) > 0 }
func isQuick(s *session) bool    { return !s.late && !s.closed }
func hasEvents(s *session) bool  { return len(s.wire) > 0 }
func lags(s *session) bool       { return s.link == lagging }
func isRefused(s *session) bool  { return s.link != unlinked && s.served == ended }
func hasLease(s *session) bool   { return s.lease }
func isOpen(s *session) bool     { return !s.closed }
func isProved(s *session) bool   { return s.served == alive && !s.lapsed && !s.closed }
func isUnlinked(s *session) bool { return s.link == unlinked && s.served != over && !s.closed }
func isServed(s *session) bool   { return s.link != unlinked && s.served == alive }

func hasDoomed(w *world, s int) ways { return once(len(w.nodesWhere(s, isDoomed)) > 0) }

func dawdle(w *world, s, _ int) { w.sessions[s].late = true }

// where gives the places of some of the queries that are under way.
func (s *session) where(which func(*flight) bool) (all ways) {
	for at := range s.flights {
		all |= once(which(&s.flights[at])) << at
	}
	return all
}

func isOpenQuery(f *flight) bool { return !f.applied }
func isOpenRead(f *flight) bool  { return !f.applied && f.reads() }
func isAnswered(f *flight) bool  { return f.applied && !f.lost }

func canAnswer(w *world, s int) ways { return w.sessions[s].where(arrives) }

func canApply(w *world, s int) ways {
	if !isServed(&w.sessions[s]) {
		return 0
	}
	if w.sessions[s].moved {
		return w.sessions[s].where(isOpenRead)
	}
	return w.sessions[s].where(isOpenQuery)
}

// reads reports whether the next step of a query commits nothing, and needs no transaction.
func (f *flight) reads() bool {
	switch f.query.(type) {
	case *coordinator.List, *coordinator.Watch, *coordinator.WatchChildren, *coordinator.WatchContention:
		return true
	case *coordinator.Create, *coordinator.Commit, *coordinator.Look:
		return f.stage > 0
	}
	return false
}

// canWait gives the queries that may be carried out without an answer at once, canLose those whose answer may be lost.
func canWait(w *world, s int) ways { return canApply(w, s) * once(!w.plan.LateAnswers) }
func canLose(w *world, s int) ways { return canWait(w, s) * once(!w.plan.Spared[s]) }

// canDefer gives the queries of which no step was carried out.
func canDefer(w *world, s int) ways {
	if !isServed(&w.sessions[s]) {
		return 0
	}
	return w.sessions[s].where(func(f *flight) bool { return !f.applied && f.stage == 0 })
}

// apply carries out a query. The answer comes at once, unless it may be late.
func apply(w *world, s, at int) {
	w.serve(s, at)
	if f := &w.sessions[s].flights[at]; !w.plan.LateAnswers && arrives(f) {
		w.deliver(s, at)
	}
}

func applyLast(w *world, s, at int) {
	w.serve(s, at)
	w.cut(s, repliesLost)
}

// setTimers gives the timers that are set.
func setTimers(w *world, s int) ways { return w.timers(s, rowTimers) }
func looksLate(w *world, s int) ways {
	return w.timers(s, 1<<coordinator.CreateTimer) * once(w.sessions[s].up && w.sessions[s].decides.LooksAreDue())
}
func looksAgain(w *world, s int) ways {
	return w.timers(s, 1<<coordinator.CreateTimer) * once(w.sessions[s].up && !w.sessions[s].decides.LooksAreDue())
}
func watchesForLong(w *world, s int) ways { return w.timers(s, 1<<coordinator.WatchTimer) }

func (w *world) timers(s int, of ways) (all ways) {
	for _, t := range w.sessions[s].timers {
		all |= 1 << t.kind
	}
	return all & of
}

func ring(w *world, s, kind int) { w.ring(s, coordinator.TimerKind(kind)) }

func canBeat(w *world, s int) ways { return once(w.beatTells(s)) }

func reconnect(to link) func(w *world, s, _ int) {
	return func(w *world, s, _ int) { w.reconnect(s, to) }
}

func canLag(w *world, s int) ways {
	sess := &w.sessions[s]
	return once(isUnlinked(sess) && sess.served == alive && sess.seen < w.servers.zxid)
}

func collapse(w *world, s, _ int) { w.cut(s, repliesLost) }

func canCut(w *world, s int) ways {
	sess, all := &w.sessions[s], ways(1)
	if sess.where(isAnswered) != 0 {
		all |= all << repliesLost
	}
	if sess.where(isOpenQuery) != 0 {
		all |= all << requestsWait
	}
	return all * once(isServed(sess))
}

// canCutMoved is canCut where the server closes the connection.
func canCutMoved(w *world, s int) ways { return canCut(w, s) * once(w.sessions[s].moved) }

func canFallSilent(w *world, s int) ways {
	return once(w.sessions[s].up && w.timer(s, coordinator.BeatTimer) != 0)
}

func canExpire(w *world, s int) ways {
	sess := &w.sessions[s]
	return once(sess.served == alive && (!sess.lease || sess.lapsed || w.mistake.EndsEarly))
}

// mayGiveUp reports whether a session that has lapsed may be given up while requests want a lease, or none does.
func mayGiveUp(wanted bool) func(w *world, s int) ways {
	return func(w *world, s int) ways {
		sess := &w.sessions[s]
		return once(sess.lapsed && !sess.closed && sess.decides.Wanted() == wanted)
	}
}

func canCarryOutLate(w *world, s int) (all ways) {
	for at := range w.sessions[s].sent {
		all |= 1 << at
	}
	return all
}

// canOutlive gives the creates and deletes of earlier connections that the servers may yet carry out.
func canOutlive(w *world, s int) (all ways) {
	if sess := &w.sessions[s]; sess.link == unlinked && sess.served == alive && !sess.closed {
		all = 1<<len(sess.outlive) - 1
	}
	return all
}

// canMove is canOutlive while the connection is there.
func canMove(w *world, s int) (all ways) {
	if sess := &w.sessions[s]; sess.link == linked && sess.served == alive && !sess.closed && !sess.moved {
		all = 1<<len(sess.outlive) - 1
	}
	return all
}

func hasForsaken(w *world, s int) ways {
	return once(len(w.sessions[s].sent) > 0 || len(w.nodesWhere(s, isForsaken)) > 0)
}

// The subjects of a session's moves.

func query(w *world, s, at int) string {
	f := w.sessions[s].flights[at]
	return fmt.Sprintf("%T of stage %d", f.query, f.stage)[len("*coordinator."):]
}

func sentQuery(w *world, s, at int) string { return kindOf(w.sessions[s].sent[at]) }
func lostQuery(w *world, s, at int) string { return kindOf(w.sessions[s].outlive[at]) }
func kindOf(q sent) string                 { return fmt.Sprintf("%T", q.query)[len("*coordinator."):] }

func number(_ *world, _, n int) string { return fmt.Sprint(n) }

func howLost(_ *world, _, how int) string {
	return fmt.Sprintf("(answers lost: %v, requests wait: %v)", how&repliesLost != 0, how&requestsWait != 0)
}
