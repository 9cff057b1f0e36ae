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

// TestMain has a property tried so often, unless flags say so.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "2000"); err != nil {
		panic(err)
	}
	os.Exit(m.Run()) // parses the flags, which override this
}

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
