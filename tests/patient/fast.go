package patient

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Fast tells whether a fast path is taken in this process, as the environment variable TURNSTILE_WITHOUT has it: `make
// paths` runs the tests once without each. What is promised of locks does not depend on it; what it costs does, and
// tests that assert that ask here.
func Fast(t testing.TB, path actors.FastPath) bool {
	t.Helper()
	off, err := actors.ParseFastPaths(os.Getenv("TURNSTILE_WITHOUT"))
	require.NoError(t, err)
	return off&path == 0
}

// Story gives the states that a request goes through which is the first in its queue, where Creating is followed by
// Held when one round trip tells that. Without that fast path the queue is listed in between.
func Story(t testing.TB, states ...messages.State) (all []messages.State) {
	t.Helper()
	lists := !Fast(t, actors.OneRoundTrip)
	for i, state := range states {
		if lists && i > 0 && state == messages.StateHeld && states[i-1] == messages.StateCreating {
			all = append(all, messages.StateListing)
		}
		all = append(all, state)
	}
	return all
}
