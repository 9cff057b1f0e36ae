package machine_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// request is the shell of a machine in the model: it gives it events, hands its orders on, and checks
// all that is to hold of every step.
type request struct {
	t       *rapid.T
	m       machine.Machine
	session *session
	epoch   int // of the newest news that was heard

	timeout, grace bool     // these timers run
	timers         []uint64 // operations whose Poll is due

	held, suspended, asked, over bool // what was told; over: the hold has ended
	counted, watched             bool // Waiting was told of this node; Watched since Held or Resumed
	cleanedUp                    bool
}

func newRequest(t *rapid.T) *request {
	want := asks.Flags(func(word string) bool { return rapid.Bool().Draw(t, word) })
	r := &request{t: t, session: &session{t: t}, m: machine.New(&want)}
	switch r.session.choose("session", "up", "down", "not there yet") {
	case "up":
		r.session.up, r.session.established = true, true
		r.session.lease = r.session.maybe("lease")
	case "down":
		r.session.established = true
	}
	r.command(machine.Begin)
	return r
}

// command gives the machine an event that comes from the owner, or from a timer of the owner.
func (r *request) command(kind machine.Kind) { r.step(machine.Event{Kind: kind}) }

// hear takes the oldest news out of the inbox.
func (r *request) hear() {
	n := r.session.inbox[0]
	r.session.inbox = slices.Delete(r.session.inbox, 0, 1)
	r.epoch = n.epoch
	r.step(n.event)
}

// timer lets the oldest Poll come due.
func (r *request) timer() {
	op := r.timers[0]
	r.timers = slices.Delete(r.timers, 0, 1)
	r.step(machine.Event{Kind: machine.Poll, Op: op})
}

func (r *request) step(ev machine.Event) {
	ev.Lease = r.session.lease && r.epoch == r.session.epoch
	before := r.m
	r.dropsStale(ev)
	after, effects, row := before.Explain(ev)
	r.m = after
	r.counted = r.counted && (after.Node == before.Node || before.Node == "")
	if row != nil {
		r.t.Logf("%s: %s %v", ev.Kind, transition(*row, before, after), effects)
	}
	switch {
	case after.Op < before.Op:
		r.t.Fatalf("%s: the operation went back from %d to %d", ev.Kind, before.Op, after.Op)
	case (before.State.Terminal() || before.Stale(ev)) && (after != before || len(effects) > 0):
		r.t.Fatalf("%s: it should have been dropped", ev.Kind)
	}
	r.ends(before, effects)
	for _, e := range effects {
		r.notice(e, ev)
		r.carryOut(e)
	}
	if after.State.Terminal() && !before.State.Terminal() {
		r.leavesNoOrphan(ev)
	}
}

// dropsStale tries the event with the numbers of operations that are not the current one.
func (r *request) dropsStale(ev machine.Event) {
	for _, op := range []uint64{r.m.Op + 1, r.m.Op - 1} {
		ev.Op = op
		if op == 0 || r.m.Op == 0 {
			continue
		}
		if next, effects, _ := r.m.Explain(ev); next != r.m || len(effects) > 0 {
			r.t.Fatalf("%s of operation %d, which is not %d, has done %v", ev.Kind, op, r.m.Op, effects)
		}
	}
}

// ends checks the notice of the end: one, with the state it belongs to, and the last of all notices.
func (r *request) ends(before machine.Machine, effects []machine.Effect) {
	var told []machine.Do
	for _, e := range effects {
		if isTell(e.Do) {
			told = append(told, e.Do)
		}
	}
	ended := 0
	for _, d := range told {
		if isEnd(d) {
			ended++
		}
	}
	switch ending := r.m.State.Terminal() && !before.State.Terminal(); {
	case ending && (ended != 1 || !isEnd(told[len(told)-1])):
		r.t.Fatalf("%s: the end is told by %v", r.m.State, told)
	case ending && r.m.Ending != r.m.State:
		r.t.Fatalf("it was to end as %s, and is %s", r.m.Ending, r.m.State)
	case ending && r.m.Reason == messages.ReasonNone && r.m.State != messages.StateFailed:
		r.t.Fatalf("%s: no reason", r.m.State)
	case !ending && ended != 0:
		r.t.Fatalf("%s: an end is told: %v", r.m.State, told)
	}
}

// notice checks that a notice makes sense after those before it.
func (r *request) notice(e machine.Effect, ev machine.Event) {
	legal := true
	switch e.Do {
	case machine.TellWaiting:
		legal = !r.held && !r.over && !r.counted && r.m.Want.TellMore
		r.counted = true
	case machine.TellWatched:
		legal = r.holding() && !r.suspended && !r.watched && r.m.Want.TellMore
		r.watched = true
	case machine.TellContended, machine.TellChecked:
		legal = r.holding() && !r.suspended
	case machine.TellHeld:
		legal = !r.held && ev.Lease && r.m.Node != "" && r.m.Token != 0 && !r.exhausted()
		r.held = true
	case machine.TellSuspended:
		legal = r.holding() && !r.suspended
		r.suspended = true
	case machine.TellResumed:
		legal = r.holding() && r.suspended && ev.Lease
		r.suspended, r.watched = false, false
	case machine.TellRevokeRequested:
		legal = r.holding() && !r.asked
		r.asked = true
	case machine.TellRevoked:
		legal = r.holding() && r.asked
		r.over = true
	case machine.TellReleased:
		legal = r.held
		r.over = true
	case machine.TellLost:
		legal = r.holding()
		r.over = true
	case machine.TellCancelled:
		legal = !r.held
	case machine.TellFailed:
		r.over = true
	case machine.Halt:
		r.t.Fatalf("%s is impossible in %s (op %d)", ev.Kind, r.m.State, r.m.Op)
	}
	if !legal {
		r.t.Fatalf("%s: %v must not be told now: %+v", ev.Kind, e, *r)
	}
}

// holding reports whether the owner may believe that it holds.
func (r *request) holding() bool { return r.held && !r.over }

func (r *request) exhausted() bool {
	return r.m.Node == r.session.node && r.session.exhausted
}

func (r *request) carryOut(e machine.Effect) {
	switch e.Do {
	case machine.StartTimeout:
		r.timeout = true
	case machine.StartGrace:
		r.grace = true
	case machine.StartPoll, machine.StartRetry:
		r.timers = append(r.timers, e.Op)
	case machine.CleanUp:
		r.cleanedUp = true
	default:
		if !isTell(e.Do) {
			r.session.take(e, r.epoch)
		}
	}
}

// leavesNoOrphan: a request that has ended leaves no node and nothing that could make one, unless the
// session was told to remove it.
func (r *request) leavesNoOrphan(ev machine.Event) {
	s := r.session
	if !r.cleanedUp && (s.node != "" || s.creating()) {
		r.t.Fatalf("%s has ended it as %s, but there is node %q, and orders %v", ev.Kind, r.m.State, s.node, s.orders)
	}
}
