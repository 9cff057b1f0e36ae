package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// A second run asks nobody for anything: neither Maven nor pip can be found.
func TestASecondRunDoesNothing(t *testing.T) {
	if _, err := pinned.Python(); errors.Is(err, pinned.ErrMissing) && os.Getenv("TURNSTILE_REQUIRE_SERVERS") != "1" {
		t.Skip(err)
	}
	t.Setenv("PATH", t.TempDir())
	require.NoError(t, jars())
	require.NoError(t, environment())
}

// A folder that was not fetched whole is not there, and no part of it is.
func TestAFolderIsThereWhole(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	folder := filepath.Join(cache, "servers")
	refused := errors.New("no network")
	write := func(making string) error {
		return os.WriteFile(filepath.Join(making, "a.jar"), []byte("x"), 0o600)
	}
	err := within(folder, func(making string) error { return errors.Join(write(making), refused) })
	require.ErrorIs(t, err, refused)
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, left)

	// Two who fetch the same at the same time both have it.
	require.NoError(t, within(folder, func(making string) error {
		require.NoError(t, within(folder, write))
		return write(making)
	}))
	left, err = os.ReadDir(cache)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.FileExists(t, filepath.Join(folder, "a.jar"))
	require.NoError(t, within(folder, func(string) error { return refused }), "it fetches what is there")
}
