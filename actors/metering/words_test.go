package metering_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestEveryReasonHasAWord reads package messages: a reason that is declared there has a row, with a word of its own.
func TestEveryReasonHasAWord(t *testing.T) {
	source, err := os.ReadFile("../../messages/reason.go")
	require.NoError(t, err)
	var declared []messages.Reason
	for _, reason := range regexp.MustCompile(`Reason\w+ Reason = "(.+)"`).FindAllStringSubmatch(string(source), -1) {
		declared = append(declared, messages.Reason(reason[1]))
	}
	require.ElementsMatch(t, declared, messages.Reasons())
	words := map[string]bool{}
	for _, reason := range declared {
		word := metering.Reason(reason)
		require.Regexp(t, "^[a-z]+(_[a-z]+)*$", word, string(reason))
		require.False(t, words[word], word)
		words[word] = true
	}
	require.Greater(t, len(words), 15)
	require.Equal(t, "_OTHER", metering.Reason("something else"))
	require.Equal(t, "_OTHER", metering.Reason(messages.ReasonNone))
}
