package actorstest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

func TestMatch(t *testing.T) {
	then, maybe, whatever := actorstest.Then, actorstest.Maybe, actorstest.Whatever
	c, l, w, h := messages.StateCreating, messages.StateListing, messages.StateWatching, messages.StateHeld
	for _, tt := range []struct {
		states  []messages.State
		pattern []actorstest.Part
		fits    bool
	}{
		{nil, nil, true},
		{[]messages.State{c}, nil, false},
		{[]messages.State{c, h}, actorstest.InOrder(c, h), true},
		{[]messages.State{c, h}, actorstest.InOrder(h, c), false},
		{[]messages.State{c}, actorstest.InOrder(c, h), false},
		{[]messages.State{c, h}, []actorstest.Part{then(c), maybe(l), then(h)}, true},
		{[]messages.State{c, l, h}, []actorstest.Part{then(c), maybe(l), then(h)}, true},
		{[]messages.State{c, l, l, h}, []actorstest.Part{then(c), maybe(l), then(h)}, false},
		{[]messages.State{c, l, w, l, h}, []actorstest.Part{then(c), whatever(), then(h)}, true},
		{[]messages.State{c, l, w, l}, []actorstest.Part{then(c), whatever(), then(h)}, false},
	} {
		err := actorstest.Match(tt.states, tt.pattern...)
		require.Equal(t, tt.fits, err == nil, "%s against %v: %v", actorstest.Story(tt.states), tt.pattern, err)
	}
}

// TestMatchSaysWhereTheyPart: in one short line, however long the states and the pattern are.
func TestMatchSaysWhereTheyPart(t *testing.T) {
	then, maybe, whatever := actorstest.Then, actorstest.Maybe, actorstest.Whatever
	c, l, w, h := messages.StateCreating, messages.StateListing, messages.StateWatching, messages.StateHeld
	long := []messages.State{c}
	for range 100 {
		long = append(long, l, w)
	}
	for _, tt := range []struct {
		states  []messages.State
		pattern []actorstest.Part
		says    string
	}{
		{nil, actorstest.InOrder(c), "first: nothing more, want creating"},
		{[]messages.State{l}, actorstest.InOrder(c), "first: listing, want creating"},
		{[]messages.State{c, h}, actorstest.InOrder(c), "after creating: held, want the end"},
		{[]messages.State{c, w}, []actorstest.Part{then(c), maybe(l), then(h)}, "after creating: watching, want listing or held"},
		{[]messages.State{c, l, h}, []actorstest.Part{then(c), maybe(l), maybe(w)}, "after creating → listing: held, want watching or the end"},
		{long, []actorstest.Part{then(c), whatever(), then(h)},
			"after 201 states, … → watching → listing → watching: nothing more, want held"},
	} {
		require.EqualError(t, actorstest.Match(tt.states, tt.pattern...), tt.says)
	}
}

// TestMatchTakesNoTimeToRefuse: many parts that fit in many ways.
func TestMatchTakesNoTimeToRefuse(t *testing.T) {
	var pattern []actorstest.Part
	for range 40 {
		pattern = append(pattern, actorstest.Whatever(), actorstest.Then(messages.StateListing), actorstest.Maybe(messages.StateWatching))
	}
	states := slices.Repeat([]messages.State{messages.StateListing, messages.StateWatching}, 200)
	require.NoError(t, actorstest.Match(states, pattern...))
	require.Error(t, actorstest.Match(states, append(pattern, actorstest.Then(messages.StateHeld))...))
}
