package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestCirclesHaveToStay: what only one of two readings shows was perhaps never there as a whole.
func TestCirclesHaveToStay(t *testing.T) {
	node := func(name string, token messages.Token, holds bool) messages.Contender {
		return messages.Contender{Path: "/x", Node: name, Token: token, Holds: holds}
	}
	queue := func(all ...messages.Contender) machine.Queues { return machine.Queues{Contenders: all} }
	first := queue(node("a", 1, true), node("b", 2, false), node("c", 3, false), node("d", 4, false))
	second := queue(node("b", 2, true), node("c", 9, false), node("d", 4, false), node("e", 10, false))
	require.Equal(t, queue(node("b", 2, true), node("d", 4, false)), stayed(first, second))
}
