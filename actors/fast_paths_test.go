package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Equal(t, LateReading, FastPaths()[len(FastPaths())-1], "a path without a name")
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
	a := newAlone(t, 1)
	require.NoError(t, a.opts.heedEnvironment())
	require.False(t, a.fast(GroupCommit))
	require.True(t, a.fast(HandOver))
	t.Setenv(withoutVariable, "speed")
	require.ErrorContains(t, a.opts.heedEnvironment(), withoutVariable)
}
