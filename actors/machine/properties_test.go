package machine_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// How many histories a property is tried on, and how long they are on average, unless flags say so.
const checks, steps = "2000", "40"

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.steps": steps} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run()) // parses the flags, which override these
}

// TestHistories drives a request through random legal histories. When it fails, rapid prints the
// shortest history that does: write it down as a trace.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRequest(t)
		t.Repeat(map[string]func(*rapid.T){"": func(*rapid.T) {}, "move": func(*rapid.T) { r.move() }})
		if r.m.State.Terminal() {
			return
		}
		t.Logf("— the owner wants an end, and all goes well from here on")
		r.command(rapid.SampledFrom([]machine.Kind{machine.Cancel, machine.Release}).Draw(t, "ask"))
		for range 200 {
			if r.m.State.Terminal() {
				return
			}
			if !r.goesWell() {
				t.Fatalf("%s: it hangs", r.m.State)
			}
		}
		t.Fatalf("%s: it does not end", r.m.State)
	})
}

// move is something that may happen next.
type move struct {
	name string
	do   func()
}

// move lets one thing happen that may happen next. Things that go on are drawn more often than trouble,
// and trouble more often than what leads to the end: otherwise most histories end before they begin.
func (r *request) move() {
	if r.m.State.Terminal() {
		return
	}
	kind := rapid.IntRange(0, 63).Draw(r.t, "kind")
	all := r.flow()
	switch {
	case len(all) == 0 || kind > 60:
		all = r.endings()
	case kind > 52:
		all = append(r.wishes(), r.trouble()...)
	case kind > 44 && len(r.trouble()) > 0:
		all = r.trouble()
	}
	m := all[rapid.IntRange(0, len(all)-1).Draw(r.t, "move")]
	r.t.Logf("— %s", m.name)
	m.do()
}

// list is a list of moves.
type list []move

func (l *list) may(when bool, name string, do func()) {
	if when {
		*l = append(*l, move{name, do})
	}
}

// flow gives the moves of the normal course.
func (r *request) flow() []move {
	var l list
	s := r.session
	l.may(len(s.inbox) > 0, "the news is heard", r.hear)
	for _, at := range s.answerable() {
		l.may(true, "answer to "+s.orders[at].String(), func() { s.carryOut(at, false) })
	}
	l.may(len(r.timers) > 0, "timer", r.timer)
	l.may(!s.up && !s.closed, "connect", s.connect)
	l.may(s.up && s.watching != 0, "the queue changes", func() {
		s.answer(s.watching, s.news())
		s.watching = 0
	})
	l.may(s.up && s.own != 0, "somebody writes into the node", func() { s.answer(s.own, machine.OwnChanged) })
	l.may(s.up && !s.lease, "lease renewed", func() { s.lease = true })
	return l
}

// trouble gives the moves of faults.
func (r *request) trouble() []move {
	var l list
	s := r.session
	l.may(s.up, "disconnect", s.disconnect)
	l.may(s.up && s.granted, "heartbeats go unanswered", func() { s.tell(machine.Event{Kind: machine.Silent}) })
	l.may(!s.up && s.established, "expire", s.expire)
	l.may(s.lease, "lease runs out", func() { s.lease = false; s.tell(machine.Event{Kind: machine.LeaseOver}) })
	l.may(s.node != "", "an operator deletes the node", s.deleted)
	l.may(s.up && s.known != "" && s.node == "", "the heartbeat finds no node", func() { s.answer(0, machine.NodeGone) })
	return l
}

// wishes gives commands and revoke requests, and the request's timers.
func (r *request) wishes() []move {
	var l list
	l.may(true, "revoke", func() { r.command(machine.Revoke) })
	l.may(true, "watch contention", func() { r.command(machine.WatchContention) })
	l.may(true, "check", func() { r.command(machine.Check) })
	l.may(r.grace, "grace over", func() { r.grace = false; r.command(machine.GraceOver) })
	l.may(r.timeout && r.held, "timeout", func() { r.timeout = false; r.command(machine.Timeout) })
	return l
}

// endings gives the moves that lead to the end.
func (r *request) endings() []move {
	var l list
	l.may(true, "release", func() { r.command(machine.Release) })
	l.may(true, "cancel", func() { r.command(machine.Cancel) })
	l.may(r.timeout, "timeout", func() { r.timeout = false; r.command(machine.Timeout) })
	l.may(!r.session.closed, "close", r.session.close)
	return l
}

// goesWell lets the next good thing happen; it is false when nothing is left that could.
func (r *request) goesWell() bool {
	s := r.session
	s.lease = s.up
	answerable := s.answerable()
	switch {
	case len(s.inbox) > 0:
		r.hear()
	case s.closed:
		return false
	case !s.up:
		s.connect()
	case len(answerable) > 0:
		s.carryOut(answerable[0], true)
	case len(r.timers) > 0:
		r.timer()
	default:
		return false
	}
	return true
}

// isTell reports whether an effect is a notice.
func isTell(d machine.Do) bool { return d >= machine.TellWaiting && d <= machine.TellFailed }

// isEnd reports whether an effect is the notice of an end.
func isEnd(d machine.Do) bool { return d >= machine.TellReleased && d <= machine.TellFailed }

// TestStepIsAFunction: the same machine and event give the same, and a machine is a value.
func TestStepIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := asks.Flags(func(word string) bool { return rapid.Bool().Draw(t, word) })
		m := machine.Machine{
			State:       messages.State(rapid.IntRange(0, int(messages.StateFailed)).Draw(t, "state")),
			From:        messages.State(rapid.IntRange(0, int(messages.StateReleasing)).Draw(t, "from")),
			Ending:      messages.State(rapid.IntRange(0, int(messages.StateFailed)).Draw(t, "ending")),
			Op:          rapid.Uint64Range(1, 1<<40).Draw(t, "op"),
			Node:        rapid.SampledFrom([]string{"", "n-1"}).Draw(t, "node"),
			Predecessor: rapid.SampledFrom([]string{"", "p"}).Draw(t, "predecessor"),
			Want:        &want,
			Counted:     rapid.Bool().Draw(t, "counted"),
			Unwatched:   rapid.Bool().Draw(t, "unwatched"),
		}
		ev := machine.Event{
			Kind:      machine.Kind(rapid.IntRange(0, len(machine.Kinds())-1).Draw(t, "kind")),
			Op:        rapid.SampledFrom([]uint64{0, m.Op, m.Op + 1, m.Op - 1}).Draw(t, "of"),
			Node:      rapid.SampledFrom([]string{"", "n-1", "n-2"}).Draw(t, "of node"),
			First:     rapid.Bool().Draw(t, "first"),
			Missing:   rapid.Bool().Draw(t, "missing"),
			Exhausted: rapid.Bool().Draw(t, "exhausted"),
			Lease:     rapid.Bool().Draw(t, "lease"),
			Overdue:   rapid.SampledFrom([]messages.Reason{"", messages.ReasonLeaseOver, messages.ReasonSessionExpired}).Draw(t, "overdue"),
		}
		copied := m
		next, effects, row := m.Explain(ev)
		again, same, alike := m.Explain(ev)
		if m != copied || next != again || row != alike || !slices.Equal(effects, same) {
			t.Fatalf("%+v, %+v: %+v, %+v", copied, ev, next, again)
		}
		checkStep(t, m, ev)
		if next.Op < m.Op || (row == nil && next != m) || next.Want != m.Want {
			t.Fatalf("%+v, %+v: %+v", m, ev, next)
		}
		if (m.Stale(ev) || m.State.Terminal()) && (next != m || len(effects) != 0 || row != nil) {
			t.Fatalf("%+v, %+v: it should be dropped", m, ev)
		}
	})
}

// checkStep: Step does what Explain says, but for a request that holds. There an event that is overdue loses the lock
// for that reason, unless it says more of the end itself, and a LeaseOver that is not overdue does nothing.
func checkStep(t *rapid.T, m machine.Machine, ev machine.Event) {
	saysMore := []machine.Kind{machine.Expired, machine.Closed, machine.NodeGone}
	next, effects, row := m.Explain(ev)
	switch {
	case m.Holding() && ev.Kind == machine.LeaseOver && ev.Overdue == "":
		next, effects, row = m, nil, nil
	case m.Holding() && ev.Overdue != "" && (m.Stale(ev) || !slices.Contains(saysMore, ev.Kind)):
		next, effects, row = m.Explain(machine.Event{Kind: machine.LeaseOver, Reason: ev.Overdue})
		if next.State != messages.StateLost || next.Reason != ev.Overdue {
			t.Fatalf("%+v: the lease is over, and it is %v", m, next.State)
		}
	}
	stepped := m
	did, fired := stepped.Step(ev)
	if stepped != next || fired != row || !slices.Equal(did.All(), effects) {
		t.Fatalf("%+v, %+v: Step led to %+v by %+v, not to %+v by %+v", m, ev, stepped, fired, next, row)
	}
}
