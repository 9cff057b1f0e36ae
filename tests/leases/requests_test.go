package leases

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// requireStates compares the whole story of a request, up to where it must have come by now; the last
// of it may be on its way to the recorder yet.
func requireStates(t *testing.T, rec *actorstest.Recorder, want ...messages.State) {
	t.Helper()
	patient.Eventually(t, func() bool { return len(rec.States()) >= len(want) }, "states: %s", actorstest.Story(want))
	require.Equal(t, actorstest.Story(want), actorstest.Story(rec.States()))
}

// requireNotices compares the kinds of the notices that came, in order. The last may be on its way yet.
func requireNotices(t *testing.T, rec *actorstest.Recorder, want ...any) {
	t.Helper()
	names := func(notices []any) (all []string) {
		for _, n := range notices {
			all = append(all, fmt.Sprintf("%T", n))
		}
		return all
	}
	patient.Eventually(t, func() bool { return len(patient.Notices(rec)) >= len(want) }, "notices: %v", names(want))
	require.Equal(t, names(want), names(patient.Notices(rec)))
}
