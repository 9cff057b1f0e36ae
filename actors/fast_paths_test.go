package actors

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestFastPathNames: every fast path has a name that is read back, and no two the same.
func TestFastPathNames(t *testing.T) {
	var all FastPath
	for _, f := range FastPaths() {
		require.Zero(t, all&f)
		all |= f
		got, err := ParseFastPaths(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	require.Equal(t, LookAhead, FastPaths()[len(FastPaths())-1], "a path without a name")
	got, err := ParseFastPaths(all.String())
	require.NoError(t, err)
	require.Equal(t, all, got)

	_, err = ParseFastPaths("hand-over, teleport")
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
	require.ErrorContains(t, err, `"teleport"`)
}

// TestFastPathsOfTheEnvironment are off in every session.
func TestFastPathsOfTheEnvironment(t *testing.T) {
	t.Setenv(withoutVariable, "group-commit")
	opts := sessionOptions{log: slog.New(slog.DiscardHandler)}
	require.NoError(t, opts.heedEnvironment())
	require.Equal(t, GroupCommit, opts.switchedOff)
	t.Setenv(withoutVariable, "speed")
	require.ErrorContains(t, opts.heedEnvironment(), withoutVariable)
}

// TestSwitchesOfTheCoordinator: each fast path is the coordinator's of that name.
func TestSwitchesOfTheCoordinator(t *testing.T) {
	for path, want := range map[FastPath]coordinator.Switches{
		GroupCommit: coordinator.GroupCommit, HandOver: coordinator.HandOver, LookAhead: coordinator.LookAhead,
		GroupCommit | LookAhead: coordinator.GroupCommit | coordinator.LookAhead,
	} {
		require.Equal(t, want, coordinator.Switches(path), path.String())
	}
}
