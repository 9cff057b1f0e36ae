package walk

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The shells of machines and coordinators carry what one decides to the other.

// tell gives a coordinator an input, carries out what it decides, and looks at the invariants. The coordinators of
// other states stay as they are.
func (w *world) tell(s int, in coordinator.Input) {
	sess, mistake, epoch := &w.sessions[s], &w.mistake, w.epoch(s)
	if sess.closed {
		return
	}
	told := mistake.input(w, s, in)
	if told == nil {
		return
	}
	if w.telling {
		w.note("%s hears %T", sessionName(s), told)
	}
	if !w.owned[s] {
		sess.decides, w.owned[s] = copies.Copy(sess.decides), true
	}
	at := coordinator.At{Lease: coordinator.Lease{Term: sess.term, Valid: sess.lease}}
	if sess.lease {
		at.Lease.Left = time.Hour
	}
	outputs := sess.decides.Apply(told, mistake.at(at))
	if o, ok := in.(*coordinator.Order); ok && o.Epoch != 0 && o.Epoch != epoch && len(outputs) > 0 {
		w.violate(OneSession, "%v was decided on in epoch %d, and is carried out in epoch %d", o.Effect, o.Epoch, epoch)
	}
	for _, out := range outputs {
		if mistake.Outputs == nil {
			w.output(s, out)
			continue
		}
		for _, out := range mistake.Outputs(w, s, out) {
			w.output(s, out)
		}
	}
	if err := sess.decides.Check(); err != nil {
		w.violate(OwnInvariants, "%s: %v", sessionName(s), err)
	}
	if sess.decides.Counts().Polls > 0 && w.plan.Permits == 0 {
		w.violate(EventsTell, "a waiter of %s finds by looking again what it has not heard", sessionName(s))
	}
	w.checkHolders()
}

// output carries out what a coordinator has decided.
func (w *world) output(s int, out coordinator.Output) {
	sess := &w.sessions[s]
	switch out := out.(type) {
	case *coordinator.Tell:
		a := &w.actors[out.To-1]
		if a.life == stopped {
			return
		}
		a.inbox = with(a.inbox, envelope{out.Event, w.epoch(s)})
		switch {
		case out.Event.Kind == machine.Created && w.plan.Beside[out.To-1] == 0 && w.plan.Modes[out.To-1] != messages.Contest:
			a.is.put(queued, true)
		case out.Event.Kind == machine.NotCreated:
			w.checkRefusal(int(out.To)-1, out.Event.Reason)
		case out.Event.Kind == machine.NodeGone: // it is told, however late it reads that
			a.is.put(handed, false)
		case a.is.any(broken) && out.Event.Kind == machine.TurnCame && out.Handoff.Local && w.servers.at(a.m.Predecessor) >= 0:
			a.is.put(handed, true)
		}
	case *coordinator.Ask:
		w.query(s, out)
	case coordinator.StartTimer:
		for id, kind := range sess.decides.Timers {
			if id == out.Timer {
				sess.timers = with(sess.timers, timer{id, kind})
			}
		}
	case coordinator.StopTimer:
		sess.timers = slices.DeleteFunc(slices.Clone(sess.timers), func(t timer) bool { return t.id == out.Timer })
	case coordinator.NewEpoch: // the connection is closed, and with it what the servers still have of the session
		if sess.lapsed && sess.served == alive {
			w.forsake(s)
		} else {
			w.end(s)
		}
		*sess = session{decides: sess.decides, mailbox: sess.mailbox, late: sess.late, term: 1, sent: sess.sent}
		w.termOver(s)
	}
}

// query puts a query on its way. Heartbeats go on for ever, so they are one move, made only where they would tell
// something (see world.beat); the others hear nothing new.
func (w *world) query(s int, ask *coordinator.Ask) {
	if beat, ok := ask.Query.(*coordinator.Check); ok && beat.Beat {
		failure := unknown
		if w.beating {
			failure = w.lacks(pathIn(beat.Path), base(beat.Path))
		}
		w.post(s, &coordinator.Reply{ID: ask.ID, Answer: &coordinator.Ack{Failure: failure}})
		return
	}
	w.sessions[s].flights = with(w.sessions[s].flights, flight{id: ask.ID, query: ask.Query})
}

// timer gives the oldest timer of a kind; zero for none.
func (w *world) timer(s int, of coordinator.TimerKind) uint64 {
	for _, t := range w.sessions[s].timers {
		if t.kind == of {
			return t.id
		}
	}
	return 0
}

// ring fires the oldest timer of a kind.
func (w *world) ring(s int, of coordinator.TimerKind) {
	sess, id := &w.sessions[s], w.timer(s, of)
	if id == 0 {
		return
	}
	sess.timers = slices.DeleteFunc(slices.Clone(sess.timers), func(t timer) bool { return t.id == id })
	w.tell(s, coordinator.Fired{Timer: id})
}

// settle has every lock actor that is not slow read its mail. A holder reads its own node at once.
func (w *world) settle() {
	for again := true; again && w.violation == nil; {
		again = false
		for i := range w.plan.Sessions {
			if a := &w.actors[i]; len(a.inbox) > 0 && !a.is.any(slow) && w.left[Slow] != Always {
				w.hear(i)
				again = true
			}
		}
		for s := range w.sessions {
			if sess := &w.sessions[s]; len(sess.mailbox) > 0 && !sess.late {
				w.take(s)
				again = true
			}
		}
		for s := range w.sessions {
			if !again && !w.sessions[s].closed && w.timer(s, coordinator.ReadTimer) != 0 {
				w.ring(s, coordinator.ReadTimer)
				again = true
			}
		}
	}
}

// take has a session read one message.
func (w *world) take(s int) {
	sess := &w.sessions[s]
	in := sess.mailbox[0]
	sess.mailbox = sess.mailbox[1:]
	sess.late = sess.late && len(sess.mailbox) > 0
	w.tell(s, in)
	if o, ok := in.(*coordinator.Order); ok && sess.closed {
		w.sayClosed(s, int(o.Request)-1)
	}
}

// sayClosed tells a request that its session is closed.
func (w *world) sayClosed(s, i int) {
	w.actors[i].inbox = with(w.actors[i].inbox, envelope{machine.Event{Kind: machine.Closed}, w.epoch(s)})
}

// hear has a lock actor read one message.
func (w *world) hear(i int) {
	a := &w.actors[i]
	n := a.inbox[0]
	a.inbox = a.inbox[1:]
	a.is.put(slow, a.is.any(slow) && len(a.inbox) > 0)
	if n.epoch != 0 {
		a.epoch = n.epoch
	}
	w.step(i, n.event)
}

// step gives a machine one event, as actors/lock_actor.go does.
func (w *world) step(i int, ev machine.Event) {
	a, s := &w.actors[i], w.plan.Sessions[i]
	if !a.lives() {
		return
	}
	switch ev.Kind {
	case machine.WatchContention:
		a.is.put(attends, a.m.State.Holding())
	case machine.Check:
		a.is.put(checks, a.m.State.Holding())
		a.is.put(checksNothing, w.servers.at(a.m.Node) < 0)
	}
	if ev.Overdue = ""; a.m.Holding() && !w.unbroken(i) {
		ev.Overdue = messages.ReasonLeaseOver
	}
	w.stepped[s] = true
	ev.Lease = w.sessions[s].lease && a.epoch == w.epoch(s)
	ev.Lease = w.mistake.at(coordinator.At{Lease: coordinator.Lease{Valid: ev.Lease}}).Lease.Valid
	before := a.m
	effects, row := a.m.Step(ev)
	if row != nil {
		w.fired[row] = true
		if w.telling {
			w.note("%s: %v → %v on %v", actorName(i), before.State, a.m.State, row.On)
		}
	}
	if a.m.State.Holding() && !before.Holding() {
		a.held, a.term = a.epoch, w.sessions[s].term
	}
	if a.poll != a.m.Op {
		a.poll = 0
	}
	for _, e := range effects.All() {
		w.effect(i, e, ev)
	}
	if a.m.State.Terminal() && a.lives() {
		w.checkEnd(i, effects.All())
		w.stop(i)
	}
	w.checkHolders()
}

// effect does one effect of a machine.
func (w *world) effect(i int, e machine.Effect, ev machine.Event) {
	a := &w.actors[i]
	switch e.Do {
	case machine.StartPoll, machine.StartRetry:
		a.poll = e.Op
	case machine.StartTimeout:
	case machine.StartGrace:
		a.is.put(grace, !w.plan.ofCalls(i)) // else the call has it
	case machine.Halt:
		w.violate(NeverImpossible, "%s is %v, and hears %v", actorName(i), a.m.State, ev.Kind)
	case machine.TellWaiting, machine.TellHeld, machine.TellWatched, machine.TellContended, machine.TellChecked, machine.TellSuspended, machine.TellResumed, machine.TellRevokeRequested, machine.TellRevoked,
		machine.TellReleased, machine.TellLost, machine.TellCancelled, machine.TellFailed:
		w.checkNotice(i, e.Do)
		if a.asked.call != 0 {
			w.hearsNotice(i, e.Do, ev)
		}
	default:
		id := coordinator.RequestID(i + 1)
		w.post(w.plan.Sessions[i], &coordinator.Order{Request: id, Spec: w.specOf(i), Effect: e, Epoch: a.epoch})
	}
}

// post puts a message into the mailbox of a session.
func (w *world) post(s int, in coordinator.Input) {
	w.sessions[s].mailbox = with(w.sessions[s].mailbox, in)
}

// stop ends a lock actor, and the ones that were to begin within it, or beside it.
func (w *world) stop(i int) {
	for j := range w.plan.Sessions {
		if (w.plan.Within[j] == i+1 || w.plan.Beside[j] == i+1) && w.actors[j].life == unasked {
			w.actors[j].life = stopped
		}
	}
	held := w.actors[i].is.any(toldHeld)
	w.actors[i] = lockActor{m: w.actors[i].m, life: stopped, epoch: w.actors[i].epoch, asked: w.actors[i].asked}
	w.post(w.plan.Sessions[i], coordinator.Ended{Request: coordinator.RequestID(i + 1)})
	w.endsUntold(i, held)
}
