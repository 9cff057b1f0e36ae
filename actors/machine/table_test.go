package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// pair is a state and an event that may meet in it.
type pair struct {
	state messages.State
	kind  machine.Kind
}

// livePairs are all pairs of a state that is not the end of a request.
func livePairs() []pair {
	var all []pair
	for _, s := range append([]messages.State{messages.StateNone}, messages.States()...) {
		if s.Terminal() {
			continue
		}
		for _, k := range machine.Kinds() {
			all = append(all, pair{s, k})
		}
	}
	return all
}

// TestEveryPairIsARowOrImpossible compares the table with the list in impossible_test.go: a row that
// is missing is not to be mistaken for one that is not needed.
func TestEveryPairIsARowOrImpossible(t *testing.T) {
	declared := map[pair]string{}
	for _, group := range impossible {
		for _, s := range group.in {
			for _, k := range group.on {
				if why, twice := declared[pair{s, k}]; twice {
					t.Errorf("(%s, %s) is declared impossible twice: %q and %q", s, k, why, group.because)
				}
				declared[pair{s, k}] = group.because
			}
		}
	}
	pairs := livePairs()
	for _, p := range pairs {
		why, isDeclared := declared[p]
		switch {
		case machine.Possible(p.state, p.kind) && isDeclared:
			t.Errorf("(%s, %s) has a row, but is declared impossible: %s", p.state, p.kind, why)
		case !machine.Possible(p.state, p.kind) && !isDeclared:
			t.Errorf("(%s, %s) has no row, and is not declared impossible", p.state, p.kind)
		}
		delete(declared, p)
	}
	for p := range declared {
		t.Errorf("(%s, %s) is declared impossible, but is no pair of a live state", p.state, p.kind)
	}
	t.Logf("%d pairs", len(pairs))
}

// TestTheLastRowOfAPairHasNoCondition: no case of a pair is left open, and no row stands behind one that
// always fires.
func TestTheLastRowOfAPairHasNoCondition(t *testing.T) {
	last := map[pair]machine.Row{}
	conditions := map[pair]map[string]bool{}
	for _, row := range machine.Rows() {
		p := pair{row.From, row.On}
		if before, ok := last[p]; ok && before.If.Name == "" {
			t.Errorf("%v is never reached: %v always fires", nameOf(row), nameOf(before))
		}
		if conditions[p] == nil {
			conditions[p] = map[string]bool{}
		}
		if conditions[p][row.If.Name] {
			t.Errorf("%v is never reached: a row above has its condition", nameOf(row))
		}
		conditions[p][row.If.Name] = true
		last[p] = row
	}
	for _, row := range last {
		if row.If.Name != "" {
			t.Errorf("%v is the last row of its pair, and has a condition", nameOf(row))
		}
	}
}

// TestOnlyOneConditionHasNoName: the empty name means always, wherever it stands.
func TestOnlyOneConditionHasNoName(t *testing.T) {
	for _, row := range machine.Rows() {
		if row.If.Name == "" {
			require.True(t, row.If.Holds(machine.Machine{}, machine.Event{}), nameOf(row))
		}
	}
}

// TestActionsAreNamedByWhatTheyDo: rows without an action have no effect, and change only the state.
func TestActionsAreNamedByWhatTheyDo(t *testing.T) {
	for _, row := range machine.Rows() {
		if row.Do.Name != "" {
			continue
		}
		before := machine.Machine{Want: &messages.Acquire{}, State: row.From, Op: 7, Node: "n-1"}
		after := before
		effects := row.Do.Run(&after, machine.Event{Kind: row.On, Node: "n-2", Reason: "why"})
		require.Empty(t, effects, nameOf(row))
		require.Equal(t, before, after, nameOf(row))
		require.Equal(t, row.From, row.To, nameOf(row))
	}
}

// TestWhoHasEndedTakesNoFurtherPart: a terminal state ignores every event.
func TestWhoHasEndedTakesNoFurtherPart(t *testing.T) {
	for _, s := range messages.States() {
		if !s.Terminal() {
			continue
		}
		for _, k := range machine.Kinds() {
			require.False(t, machine.Possible(s, k), "(%s, %s)", s, k)
			before := machine.Machine{Want: &messages.Acquire{}, State: s, Op: 7, Node: "n-1", Ending: s}
			for _, op := range []uint64{0, 7, 8} {
				after, effects, row := before.Explain(machine.Event{Kind: k, Op: op, Node: "n-2", Lease: true})
				require.Equal(t, before, after, "(%s, %s)", s, k)
				require.Empty(t, effects, "(%s, %s)", s, k)
				require.Nil(t, row, "(%s, %s)", s, k)
			}
		}
	}
}

// TestAnImpossibleEventHalts and changes nothing, so that what is known of the node stays known.
func TestAnImpossibleEventHalts(t *testing.T) {
	for _, p := range livePairs() {
		if machine.Possible(p.state, p.kind) {
			continue
		}
		before := machine.Machine{Want: &messages.Acquire{}, State: p.state, Op: 7, Node: "n-1"}
		after, effects, _ := before.Explain(machine.Event{Kind: p.kind})
		require.Equal(t, before, after, "(%s, %s)", p.state, p.kind)
		require.Equal(t, []machine.Effect{{Do: machine.Halt}}, effects, "(%s, %s)", p.state, p.kind)
	}
}

// TestTerminalRowsTellTheEndOnce: a row that ends a request gives exactly one notice of the end, and
// it is the one that goes with the state; no other row gives any.
func TestTerminalRowsTellTheEndOnce(t *testing.T) {
	ends := map[messages.State]machine.Do{
		messages.StateReleased: machine.TellReleased, messages.StateLost: machine.TellLost,
		messages.StateCancelled: machine.TellCancelled, messages.StateFailed: machine.TellFailed,
	}
	for _, row := range machine.Rows() {
		m := machine.Machine{Want: &messages.Acquire{}, State: row.From, Op: 7}
		var told []machine.Do
		effects := row.Do.Run(&m, machine.Event{Kind: row.On})
		for _, effect := range effects.All() {
			if isEnd(effect.Do) {
				told = append(told, effect.Do)
			}
		}
		if end, ok := ends[row.To]; ok {
			require.Equal(t, []machine.Do{end}, told, nameOf(row))
		} else {
			require.Empty(t, told, nameOf(row))
		}
	}
}

// TestNamesAreComplete: every event and every effect has a name of its own.
func TestNamesAreComplete(t *testing.T) {
	seen := map[string]bool{"unknown": true}
	for _, k := range machine.Kinds() {
		require.False(t, seen[k.String()], k)
		seen[k.String()] = true
	}
	seen = map[string]bool{"unknown": true}
	for d := machine.Create; d <= machine.Halt; d++ {
		require.False(t, seen[d.String()], d)
		seen[d.String()] = true
	}
	require.Equal(t, "unknown", machine.Kind(len(machine.Kinds())).String())
	require.Equal(t, "unknown", (machine.Halt + 1).String())
}
