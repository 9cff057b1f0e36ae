package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two that have mapped one file see each other, and count together.
func TestGuard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guard")
	var of [2][]*guard
	for process := range of {
		guards, unmap, err := openGuards(file, process, 3)
		require.NoError(t, err)
		defer unmap()
		of[process] = guards
	}
	first, second := of[0][2], of[1][2]
	for range 2 {
		_, handed, err := first.enter(1, instant())
		require.NoError(t, err)
		require.False(t, handed, "nobody was before, or itself")
		require.NoError(t, first.leave(1))
	}
	_, handed, err := second.enter(2, instant())
	require.NoError(t, err)
	require.True(t, handed)
	_, _, err = first.enter(3, instant())
	require.ErrorIs(t, err, errTwoHolders)
	_, _, err = of[0][1].enter(3, instant())
	require.NoError(t, err, "another lock")
	require.NoError(t, second.leave(2))
	require.EqualValues(t, 2, total(of[1], wordProcess), "of the first process")
	require.EqualValues(t, 1, total(of[1], wordProcess+1))
	require.ErrorIs(t, first.leave(3), errTwoHolders)
	require.ErrorIs(t, settle(of[0], 7), errTwoHolders)
	require.NoError(t, settle([]*guard{newGuard()}, 0))
	_, _, err = openGuards(file, guardProcesses, 1)
	require.Error(t, err)
}
