package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestInvalidTextCrosses: what is only told crosses with marks in the place of bytes that are no
// text. It would not be sent otherwise.
func TestInvalidTextCrosses(t *testing.T) {
	failed, _ := across(t, wire.FromNotice(&messages.Failed{Reason: "\xff", Detail: "a\xc3b"}, 0)).Notice()
	require.Equal(t, &messages.Failed{Reason: "\uFFFD", Detail: "a\uFFFDb"}, failed)

	queue := &messages.Queue{Contenders: []messages.Contender{{Node: "n-\xff", Label: "\xff", Host: "\xff"}}}
	queue.Detail = "\xff"
	answer := across(t, wire.FromAnswer("q", queue))
	require.Equal(t, "\uFFFD", answer.Detail)
	require.Equal(t, "n-\uFFFD", answer.Messages().(*messages.Queue).Contenders[0].Node)
}
