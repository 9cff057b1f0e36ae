package actors_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func TestMatch(t *testing.T) {
	c, l, w, h := messages.StateCreating, messages.StateListing, messages.StateWatching, messages.StateHeld
	for _, tt := range []struct {
		states  []messages.State
		pattern []actors.Part
		fits    bool
	}{
		{nil, nil, true},
		{[]messages.State{c}, nil, false},
		{[]messages.State{c, h}, actors.InOrder(c, h), true},
		{[]messages.State{c, h}, actors.InOrder(h, c), false},
		{[]messages.State{c}, actors.InOrder(c, h), false},
		{[]messages.State{c, h}, []actors.Part{actors.Then(c), actors.Maybe(l), actors.Then(h)}, true},
		{[]messages.State{c, l, h}, []actors.Part{actors.Then(c), actors.Maybe(l), actors.Then(h)}, true},
		{[]messages.State{c, l, l, h}, []actors.Part{actors.Then(c), actors.Maybe(l), actors.Then(h)}, false},
		{[]messages.State{c, l, w, l, h}, []actors.Part{actors.Then(c), actors.Whatever(), actors.Then(h)}, true},
		{[]messages.State{c, l, w, l}, []actors.Part{actors.Then(c), actors.Whatever(), actors.Then(h)}, false},
	} {
		err := actors.Match(tt.states, tt.pattern...)
		require.Equal(t, tt.fits, err == nil, "%s against %v: %v", actors.Story(tt.states), tt.pattern, err)
	}
}

func TestCheckAcquire(t *testing.T) {
	require.NoError(t, actors.CheckAcquire(messages.Acquire{Path: "/orders/42"}))
	require.ErrorIs(t, actors.CheckAcquire(messages.Acquire{Path: "orders"}), zkconn.ErrBadPath)
	for _, bad := range []messages.Acquire{
		{Path: "/a", Mode: 9}, {Path: "/a", Timeout: -time.Second}, {Path: "/a", Grace: -1},
		{Path: "/a", Label: strings.Repeat("x", 1025)},
	} {
		require.ErrorIs(t, actors.CheckAcquire(bad), actors.ErrBadAcquire)
	}
}
