package walk

import (
	"fmt"
	"strconv"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The shells of machines and coordinators: they carry what one decides to the other.

func permitsText(permits int) string { return strconv.Itoa(permits) }

// guid is the GUID of a request, actorOf the request of a GUID.
func guid(i int) string { return fmt.Sprintf("guid%d", i) }

func actorOf(guid string) int { return int(guid[len("guid")] - '0') }

// spec is what a request wants.
func (p *Plan) spec(i int) *coordinator.Spec {
	want := &messages.Acquire{Path: lockPath, Mode: p.Modes[i], Try: p.Try[i], Reentry: p.Reentry[i], WatchAll: p.WatchAll[i]}
	if p.Sticky[i] {
		want.Sticky = time.Second
	}
	if want.Mode == messages.Contest {
		want.Path += "/" + oneName
	}
	if want.Mode == messages.Semaphore {
		want.Permits = p.Permits
	}
	by := fmt.Sprintf("actor%d", i)
	if p.Owners[i] != 0 {
		want.Owner = fmt.Sprintf("owner%d", p.Owners[i])
	}
	return coordinator.NewSpec(want, guid(i), by, false, time.Time{})
}

func (w *world) epoch(s int) uint64 { return w.sessions[s].decides.Epoch() }

// tell gives a coordinator an input, and carries out what it decides. The coordinators of other states stay as they are.
func (w *world) tell(s int, in coordinator.Input) {
	sess := &w.sessions[s]
	if sess.ending {
		return
	}
	if !w.cloned[s] {
		sess.decides, w.cloned[s] = sess.decides.Clone(), true
	}
	at := coordinator.At{Lease: coordinator.Lease{Run: sess.run, Valid: sess.lease}}
	if sess.lease {
		at.Lease.Left = time.Hour
	}
	mistake, told, epoch := w.plan.Mistake, in, w.epoch(s)
	if mistake != nil && mistake.At != nil {
		at = mistake.At(at)
	}
	if mistake != nil && mistake.Inputs != nil {
		if in = mistake.Inputs(w, s, in); in == nil {
			return
		}
	}
	w.note("session %s hears %T", sessionName(s), in)
	outputs := sess.decides.Apply(in, at)
	if o, ok := told.(*coordinator.Order); ok && o.Epoch != 0 && o.Epoch != epoch && len(outputs) > 0 {
		w.violate(OneSession, "%v was decided on in epoch %d, and is carried out in epoch %d", o.Effect, o.Epoch, epoch)
	}
	for _, out := range append([]coordinator.Output(nil), outputs...) {
		if mistake == nil || mistake.Outputs == nil {
			w.output(s, out)
			continue
		}
		for _, out := range mistake.Outputs(w, s, out) {
			w.output(s, out)
		}
	}
	if err := sess.decides.Check(); err != nil {
		w.violate(OwnInvariants, "session %s: %v", sessionName(s), err)
	}
}

// output carries out what a coordinator has decided.
func (w *world) output(s int, out coordinator.Output) {
	switch out := out.(type) {
	case *coordinator.Tell:
		i := int(out.To) - 1
		if a := &w.actors[i]; !a.stopped {
			a.inbox = with(a.inbox, news{out.Event, w.epoch(s)})
			if a.broken && out.Event.Kind == machine.TurnCame && out.Handoff.Local && w.servers.at(a.m.Predecessor) >= 0 {
				a.handed = true
			}
		}
	case *coordinator.Ask:
		w.ask(s, out)
	case coordinator.NewEpoch:
		w.newEpoch(s)
	}
}

// ask puts a query on its way. Heartbeats go on for ever, so they are one move, made only where they would tell something
// (see world.beat); the others have no news.
func (w *world) ask(s int, ask *coordinator.Ask) {
	sess := &w.sessions[s]
	if beat, ok := ask.Query.(*coordinator.Check); ok && beat.Beat {
		failure := unknown
		if w.beating {
			failure = w.lacks(base(beat.Path))
		}
		w.post(s, &coordinator.Reply{ID: ask.ID, Answer: &coordinator.Done{Failure: failure}})
		return
	}
	sess.flights = with(sess.flights, flight{id: ask.ID, query: ask.Query})
}

// newEpoch: the session closes its connection, and with it what the servers still have of the session, and begins anew.
func (w *world) newEpoch(s int) {
	w.endAtServers(s)
	sess := &w.sessions[s]
	*sess = session{decides: sess.decides, mailbox: sess.mailbox, late: sess.late, run: 1}
}

// settle has everybody read their mail who is not slow.
func (w *world) settle() {
	for again := true; again && w.violation == nil; {
		again = false
		for i := range w.plan.Sessions {
			if a := &w.actors[i]; len(a.inbox) > 0 && !a.slow && w.left.Slow != Always {
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
	}
}

// take has a session read one message.
func (w *world) take(s int) {
	sess := &w.sessions[s]
	in := sess.mailbox[0]
	sess.mailbox = sess.mailbox[1:]
	sess.late = sess.late && len(sess.mailbox) > 0
	w.tell(s, in)
	if o, ok := in.(*coordinator.Order); ok && sess.ending {
		i := int(o.Request) - 1
		w.actors[i].inbox = with(w.actors[i].inbox, news{machine.Event{Kind: machine.Closed}, w.epoch(s)})
	}
}

// hear has a lock actor read one message.
func (w *world) hear(i int) {
	a := &w.actors[i]
	n := a.inbox[0]
	a.inbox = a.inbox[1:]
	a.slow = a.slow && len(a.inbox) > 0
	a.epoch = n.epoch
	w.step(i, n.event)
}

// unbroken tells whether the lease of a request's grant has not been over since.
func (w *world) unbroken(i int) bool {
	a, s := &w.actors[i], w.sessionOf(i)
	return a.held == w.epoch(w.plan.Sessions[i]) && s.lease && s.run == a.run
}

// step gives a machine one event, as actors/lock.go does.
func (w *world) step(i int, ev machine.Event) {
	a, s := &w.actors[i], w.plan.Sessions[i]
	over, first, void := a.m.Precede(ev, a.m.Holding() && w.unbroken(i))
	if void || a.stopped {
		return
	}
	if first {
		w.step(i, over)
	}
	ev.Lease = w.sessions[s].lease && a.epoch == w.epoch(s)
	if w.plan.Mistake != nil && w.plan.Mistake.At != nil {
		ev.Lease = w.plan.Mistake.At(coordinator.At{Lease: coordinator.Lease{Valid: ev.Lease}}).Lease.Valid
	}
	before := a.m
	effects, row := a.m.Take(ev)
	if row == nil && len(effects.All()) == 0 {
		return
	}
	if row != nil {
		w.note("%s: %v → %v on %v", actorName(i), before.State, a.m.State, ev.Kind)
		if w.fired != nil {
			w.fired[row] = true
		}
	}
	if a.m.State.Holding() && !before.Holding() {
		a.held, a.run = a.epoch, w.sessions[s].run
	}
	if a.poll != a.m.Op {
		a.poll = 0
	}
	for _, e := range effects.All() {
		w.effect(i, e, ev)
	}
	if a.m.State.Terminal() {
		w.checkEnd(i, effects.All())
		w.stop(i)
	}
}

// effect does one effect of a machine.
func (w *world) effect(i int, e machine.Effect, ev machine.Event) {
	a, s := &w.actors[i], w.plan.Sessions[i]
	switch e.Do {
	case machine.StartPoll, machine.StartRetry:
		a.poll = e.Op
	case machine.StartTimeout:
	case machine.StartGrace:
		a.grace = true
	case machine.Halt:
		w.violate(NeverImpossible, "%s is %v, and hears %v", actorName(i), a.m.State, ev.Kind)
	case machine.TellHeld, machine.TellSuspended, machine.TellResumed, machine.TellRevokeRequested, machine.TellRevoked,
		machine.TellReleased, machine.TellLost, machine.TellCancelled, machine.TellFailed:
		w.checkNotice(i, e.Do)
	default:
		w.post(s, &coordinator.Order{Request: coordinator.RequestID(i + 1), Spec: w.specs[i], Effect: e, Epoch: a.epoch})
	}
}

// post puts a message into the mailbox of a session.
func (w *world) post(s int, in coordinator.Input) {
	w.sessions[s].mailbox = with(w.sessions[s].mailbox, in)
}

// stop ends a lock actor.
func (w *world) stop(i int) {
	a := &w.actors[i]
	*a = lockActor{m: a.m, begun: true, stopped: true}
	w.post(w.plan.Sessions[i], coordinator.Ended{Request: coordinator.RequestID(i + 1)})
}
