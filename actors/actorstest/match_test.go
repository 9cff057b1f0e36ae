package actorstest_test

import (
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
