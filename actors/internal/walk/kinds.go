package walk

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The tables of moves. To add a kind of move, add a row.

// The first rows of ofActors.
const (
	begins uint8 = iota
	hears
)

// ofActors are the moves of a request that was made and has not ended. begins is for the others.
var ofActors = []kind{
	begins: {text: "asks for the lock", class: itself, can: never, do: (*world).begin},
	hears: {text: "reads its mailbox", class: itself, can: hasMail,
		do: func(w *world, i, _ int) { w.hear(i) }},
	{text: "looks again", class: itself, do: (*world).poll,
		can: func(w *world, i int) ways { return w.pollDue(i, true) }},
	{text: "polls", class: owed, bound: Polls, do: (*world).poll,
		can: func(w *world, i int) ways { return w.pollDue(i, false) }},
	{text: "is released", class: owed, do: command(machine.Release),
		can: func(w *world, i int) ways { return once(w.actors[i].m.Holding()) }},
	{text: "is released", bound: Releases, do: command(machine.Release),
		can: func(w *world, i int) ways { return once(!w.actors[i].m.Holding()) }},
	{text: "is cancelled", bound: Cancels, can: always, do: command(machine.Cancel)},
	{text: "has waited for long enough", bound: Timeouts, can: always, do: command(machine.Timeout)},
	{text: "is asked to give back", bound: Revokes, can: always, do: command(machine.Revoke)},
	{text: "reaches the end of its grace period", class: owed, do: (*world).endGrace,
		can: func(w *world, i int) ways { return once(w.actors[i].is.any(grace)) }},
	{text: "leaves its mailbox", bound: Slow, can: canLinger,
		do: func(w *world, i, _ int) { w.actors[i].is.put(slow, true) }},
	{text: "is stopped", bound: Stops, do: func(w *world, i, _ int) { w.stop(i) },
		can: func(w *world, i int) ways { return once(!w.sessionOf(i).closed) }},
}

// ofSessions are the moves of a session.
var ofSessions = []kind{
	{text: "the nodes of the session that is over are deleted", class: itself, can: hasDoomed,
		do: func(w *world, s, _ int) { w.bury(s) }},
	{text: "it reads its mailbox", class: itself, do: func(w *world, s, _ int) { w.take(s) },
		can: func(w *world, s int) ways { return once(len(w.sessions[s].mailbox) > 0) }},
	{text: "it leaves its mailbox", bound: Late, do: func(w *world, s, _ int) { w.sessions[s].late = true },
		can: func(w *world, s int) ways { return once(!w.sessions[s].late && !w.sessions[s].closed) }},

	{text: "the servers carry out", of: query, class: itself, can: canApply, do: (*world).apply},
	{text: "the servers carry out, and answer later,", of: query, class: perhaps, bound: Slow, do: (*world).carryOut,
		can: func(w *world, s int) ways { return w.prompt(s) }},
	{text: "the connection is lost with the answer to", of: query, class: perhaps, bound: Cuts, can: canApplyLast,
		do: func(w *world, s, at int) { w.carryOut(s, at); w.cut(s, repliesLost) }},
	{text: "the answer comes to", of: query, class: itself, do: (*world).deliver,
		can: func(w *world, s int) ways {
			return w.flights(s, func(f *flight) bool { return f.applied && f.behind == 0 })
		}},
	{text: "an event arrives", class: itself, do: func(w *world, s, _ int) { w.arrive(s) },
		can: func(w *world, s int) ways { return once(len(w.sessions[s].wire) > 0) }},
	{text: "timer", of: number, class: itself, can: canRing,
		do: func(w *world, s, of int) { w.ring(s, coordinator.TimerKind(of)) }},
	{text: "a node was retained for long enough", class: owed,
		can: func(w *world, s int) ways { return once(w.timer(s, coordinator.RetentionTimer) != 0) },
		do:  func(w *world, s, _ int) { w.ring(s, coordinator.RetentionTimer) }},
	{text: "a heartbeat", class: itself, do: func(w *world, s, _ int) { w.beat(s) },
		can: func(w *world, s int) ways { return once(w.beatTells(s)) }},

	{text: "a server is found", class: itself, do: func(w *world, s, _ int) { w.reconnect(s, linked) },
		can: func(w *world, s int) ways { return once(w.canReconnect(s)) }},
	{text: "a server is found that lags", class: perhaps, bound: Lags,
		can: func(w *world, s int) ways {
			sess := &w.sessions[s]
			return once(w.canReconnect(s) && sess.served == alive && sess.seen < w.servers.zxid)
		},
		do: func(w *world, s, _ int) { w.reconnect(s, lagging) }},
	{text: "its server catches up", class: itself, do: func(w *world, s, _ int) { w.catchUp(s) },
		can: func(w *world, s int) ways { return once(w.sessions[s].link == lagging) }},
	{text: "the servers, which have ended it, cut the connection", class: itself,
		can: func(w *world, s int) ways {
			return once(w.sessions[s].link != unlinked && w.sessions[s].served == ended)
		},
		do: func(w *world, s, _ int) { w.cut(s, repliesLost) }},

	{text: "the connection is lost", of: howLost, class: fault, bound: Cuts, can: canCut, do: (*world).cut},
	{text: "a heartbeat is late", class: fault, bound: Silences, do: func(w *world, s, _ int) { w.silence(s) },
		can: func(w *world, s int) ways {
			return once(w.sessions[s].up && w.timer(s, coordinator.BeatTimer) != 0)
		}},
	{text: "the lease runs out", class: fault, bound: Lapses, do: func(w *world, s, _ int) { w.lapse(s) },
		can: func(w *world, s int) ways { return once(w.sessions[s].lease) }},
	{text: "the servers end the session", class: fault, bound: Expiries, do: func(w *world, s, _ int) { w.end(s) },
		can: func(w *world, s int) ways {
			sess := &w.sessions[s]
			return once(sess.served == alive && (!sess.lease || w.mistake(ExpireEarly)))
		}},
	{text: "it is closed", class: fault, bound: Closes, do: func(w *world, s, _ int) { w.closeSession(s) },
		can: func(w *world, s int) ways { return once(!w.sessions[s].closed) }},
}

// ofServers are the moves of an operator, and of the servers' housekeeping. how is the place of a node.
var ofServers = []kind{
	{text: "deletes", of: nodeName, bound: Breaks, do: (*world).breakNode,
		can: func(w *world, _ int) ways { return w.nodes(func(n *node) bool { return !n.doomed }) }},
	{text: "wants the lock of", of: nodeName, bound: Asks,
		can: func(w *world, _ int) ways { return w.nodes(func(n *node) bool { return !n.doomed && !n.wanted }) },
		do:  func(w *world, _, at int) { w.write(at, true) }},
	{text: "deletes the empty lock path", bound: Reaps,
		can: func(w *world, _ int) ways { return once(len(w.servers.nodes) == 0 && w.servers.sequence > 0) },
		do:  func(w *world, _, _ int) { w.servers.sequence, w.servers.permits = 0, 0 }},
}

func never(*world, int) ways  { return 0 }
func always(*world, int) ways { return 1 }

func hasMail(w *world, i int) ways { return once(len(w.actors[i].inbox) > 0) }

func canLinger(w *world, i int) ways {
	s := w.sessionOf(i)
	return once(w.left[Slow] != Always && !w.actors[i].is.any(slow) && len(s.flights)+len(s.wire) > 0)
}

// pollDue tells whether a lock actor's poll is due while it recovers, or while it does not.
func (w *world) pollDue(i int, recovers bool) ways {
	a := &w.actors[i]
	return once(a.poll != 0 && (a.m.State == messages.StateRecovering) == recovers)
}

func (w *world) begin(i, _ int) {
	w.actors[i].life = asked
	w.step(i, machine.Event{Kind: machine.Begin})
}

func (w *world) poll(i, _ int) {
	op := w.actors[i].poll
	w.actors[i].poll = 0
	w.step(i, machine.Event{Kind: machine.Poll, Op: op})
}

func (w *world) endGrace(i, _ int) {
	w.actors[i].is.put(grace, false)
	w.step(i, machine.Event{Kind: machine.GraceOver})
}

// command gives a request a command of its owner.
func command(of machine.Kind) func(w *world, i, _ int) {
	return func(w *world, i, _ int) { w.step(i, machine.Event{Kind: of}) }
}

func hasDoomed(w *world, s int) ways {
	return once(slices.ContainsFunc(w.servers.nodes, func(n node) bool { return n.doomed && n.session == s }))
}

// flights gives the places of some of the queries that are under way.
func (w *world) flights(s int, which func(*flight) bool) (all ways) {
	for at := range w.sessions[s].flights {
		all |= once(which(&w.sessions[s].flights[at])) << at
	}
	return all
}

// nodes gives the places of some of the nodes.
func (w *world) nodes(which func(*node) bool) (all ways) {
	for at := range w.servers.nodes {
		all |= once(which(&w.servers.nodes[at])) << at
	}
	return all
}

func canApply(w *world, s int) ways {
	if sess := &w.sessions[s]; sess.link == unlinked || sess.served != alive {
		return 0
	}
	return w.flights(s, func(f *flight) bool { return !f.applied })
}

// prompt gives the queries that may be carried out without an answer at once.
func (w *world) prompt(s int) ways {
	if !w.plan.Prompt {
		return 0
	}
	return canApply(w, s)
}

func canApplyLast(w *world, s int) ways {
	if w.plan.Spared[s] {
		return 0
	}
	return w.prompt(s)
}

// apply carries out a query. In a prompt plan the answer comes at once.
func (w *world) apply(s, at int) {
	w.carryOut(s, at)
	if f := &w.sessions[s].flights[at]; w.plan.Prompt && f.applied && f.behind == 0 {
		w.deliver(s, at)
	}
}

// canRing gives the kinds of timers that may fire now. Those of heartbeats and of retained nodes have moves of their own,
// that of the lease fires when the lease is over, and a holder reads its node at once.
func canRing(w *world, s int) (all ways) {
	for _, t := range w.sessions[s].timers {
		switch t.kind {
		case coordinator.CreatesTimer, coordinator.DeletesTimer, coordinator.RetryTimer, coordinator.SearchTimer:
			all |= 1 << t.kind
		}
	}
	return all
}

func (w *world) canReconnect(s int) bool {
	sess := &w.sessions[s]
	return sess.link == unlinked && sess.served != over && !sess.closed
}

func canCut(w *world, s int) ways {
	if sess := &w.sessions[s]; sess.link == unlinked || sess.served != alive {
		return 0
	}
	all := ways(1)
	if w.flights(s, func(f *flight) bool { return f.applied && !f.lost }) != 0 {
		all |= all << repliesLost
	}
	if w.flights(s, func(f *flight) bool { return !f.applied }) != 0 {
		all |= all << requestsWait
	}
	return all
}

// breakNode has an operator delete a node.
func (w *world) breakNode(_, at int) {
	n := w.servers.nodes[at]
	for i := range w.plan.Sessions {
		if a := &w.actors[i]; a.m.Node == n.name || n.guid == guid(i) {
			a.is.put(broken, true)
		}
	}
	w.deleteNode(n.name)
}

func query(w *world, s, at int) string {
	f := w.sessions[s].flights[at]
	return fmt.Sprintf("%T of stage %d", f.query, f.stage)[len("*coordinator."):]
}

func nodeName(w *world, _, at int) string { return w.servers.nodes[at].name }

func number(_ *world, _, n int) string { return fmt.Sprint(n) }

func howLost(_ *world, _, how int) string {
	return fmt.Sprintf("(answers lost: %v, requests wait: %v)", how&repliesLost != 0, how&requestsWait != 0)
}
