package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// The traces in testdata are stories: what happens to one lock request, one event a stanza. A trace is
// a specification; read it before you rewrite it (go test ./actors/machine -rewrite).
//
//	new [try] [more]
//	    begins a story with a machine of its own. A file may hold several.
//
//	step KIND [op=N] [FLAG...] [FIELD=VALUE...]
//	    gives the machine one event. The words are the fields of machine.Event, in small letters:
//	    flags    missing first exhausted unlock lease
//	    fields   node token places before predecessor reason detail; (a value of several words) stands in parentheses
//	    overdue  [=REASON], which is that the lease ran out where there is none
//	    op       defaults to the current operation for replies and to 0 for commands, for timers of
//	             the owner and for news of the session; it is written out where a reply is stale, or
//	             where the session knows without having been asked (NodeGone op=0)
//
//	show
//	    prints what the machine remembers.
//
// The output of a step is the transition, then the effects, one a line:
//
//	creating → held [first, lease valid]: grant      the condition in brackets, then the action
//	held → releasing: give back, delete (why)        why: the reason, where the step gave it one
//	TellHeld                                         an effect
//	Delete op=3 node-1                               an effect that is to be answered with op=3
//	stale                                            it answers another operation: dropped
//	ended                                            the request has ended: dropped
//	impossible                                       a bug of the shell; the effect is Halt
func TestTraces(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s story
		datadriven.RunTest(t, path, s.tell)
	})
}

// TestEveryRowIsTold fails when a row of the table fires in no trace.
func TestEveryRowIsTold(t *testing.T) {
	told := map[rowName]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := story{fired: func(row *machine.Row) { told[nameOf(*row)] = true }}
		datadriven.RunTest(t, path, s.tell)
	})
	names := map[rowName]bool{}
	for _, row := range machine.Rows() {
		name := nameOf(row)
		if names[name] {
			t.Errorf("two rows read alike: %v", name)
		}
		names[name] = true
		if !told[name] {
			t.Errorf("no trace tells of the row %v", name)
		}
	}
	t.Logf("%d rows", len(names))
}

// rowName is a row as it reads, which is also what tells rows apart.
type rowName struct {
	from      messages.State
	on        machine.Kind
	condition string
	to        messages.State
	action    string
}

func nameOf(r machine.Row) rowName { return rowName{r.From, r.On, r.If.Name, r.To, r.Do.Name} }

func (n rowName) String() string {
	return fmt.Sprintf("{%s, %s, %q, %s, %q}", n.from, n.on, n.condition, n.to, n.action)
}

// story is one machine on its way through a trace.
type story struct {
	m     machine.Machine
	fired func(*machine.Row)
}

func (s *story) tell(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "new":
		want := asks.Flags(d.HasArg)
		s.m = machine.New(&want)
		return ""
	case "step":
		return s.step(parseEvent(t, d, s.m))
	case "show":
		return show(s.m)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
		return ""
	}
}

func (s *story) step(ev machine.Event) string {
	old := s.m
	effects, row := s.m.Step(ev)
	m := s.m
	var b strings.Builder
	switch {
	case row != nil:
		if s.fired != nil {
			s.fired(row)
		}
		fmt.Fprintln(&b, transition(*row, old, m))
	case old.State.Terminal():
		fmt.Fprintln(&b, "ended")
	case old.Stale(ev):
		fmt.Fprintln(&b, "stale")
	case len(effects.All()) == 0:
		fmt.Fprintln(&b, "dropped")
	default:
		fmt.Fprintln(&b, "impossible")
	}
	for _, effect := range effects.All() {
		fmt.Fprintln(&b, effect)
	}
	return b.String()
}

func transition(row machine.Row, old, m machine.Machine) string {
	text := fmt.Sprintf("%s → %s", row.From, row.To)
	if row.If.Name != "" {
		text += " [" + row.If.Name + "]"
	}
	if row.Do.Name != "" {
		text += ": " + row.Do.Name
	}
	if m.Reason != old.Reason {
		text += fmt.Sprintf(" (%s)", m.Reason)
	}
	return text
}

func show(m machine.Machine) string {
	text := fmt.Sprintf("%s op=%d", m.State, m.Op)
	for _, part := range []struct {
		name, value string
		shown       bool
	}{
		{"from", m.From.String(), m.From != messages.StateNone},
		{"ending", m.Ending.String(), m.Ending != messages.StateNone},
		{"node", m.Node, m.Node != ""},
		{"token", m.Token.String(), m.Token != 0},
		{"predecessor", m.Predecessor, m.Predecessor != ""},
		{"reason", string(m.Reason), m.Reason != ""},
		{"detail", m.Detail, m.Detail != ""},
		{"try", "yes", m.Want.Try},
		{"places", strconv.Itoa(m.Places), m.Places != 0},
		{"tells more", fmt.Sprintf("Waiting was told: %v, Watched is owed: %v", m.Counted, m.Unwatched), m.Want.TellMore},
	} {
		if part.shown {
			text += fmt.Sprintf("\n%s: %s", part.name, part.value)
		}
	}
	return text + "\n"
}
