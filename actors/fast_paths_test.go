package actors

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestFastPathsOfTheEnvironment are off in every session: each name is a switch of its own, in the order of the switches.
func TestFastPathsOfTheEnvironment(t *testing.T) {
	opts := sessionOptions{log: slog.New(slog.DiscardHandler)}
	heed := func(names string) coordinator.Switches {
		t.Setenv(withoutVariable, names)
		require.NoError(t, opts.heedEnvironment())
		return opts.switchedOff
	}
	for i, name := range FastPaths() {
		require.Equal(t, coordinator.Switches(1)<<i, heed(name), name)
	}
	require.Equal(t, coordinator.GroupCommit, heed("group-commit"))
	require.Equal(t, coordinator.HandOver, heed("hand-over"))
	require.Equal(t, coordinator.Switches(1)<<len(FastPaths())-1, heed(strings.Join(FastPaths(), ", ")))
	require.Zero(t, heed(""))

	t.Setenv(withoutVariable, "hand-over, teleport")
	err := opts.heedEnvironment()
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
	require.ErrorContains(t, err, withoutVariable)
	require.ErrorContains(t, err, `"teleport"`)
}
