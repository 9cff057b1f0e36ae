package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	g := newGuard()
	_, handed, err := g.enter(1, instant())
	require.NoError(t, err)
	require.False(t, handed, "nobody was before")
	require.NoError(t, g.leave(1))
	_, handed, err = g.enter(1, instant())
	require.NoError(t, err)
	require.False(t, handed, "it came back")
	require.NoError(t, g.leave(1))
	latency, handed, err := g.enter(2, instant())
	require.NoError(t, err)
	require.True(t, handed)
	require.GreaterOrEqual(t, latency.Nanoseconds(), int64(0))
	_, _, err = g.enter(3, instant())
	require.ErrorIs(t, err, errTwoHolders)
	require.ErrorIs(t, g.leave(3), errTwoHolders)
	require.NoError(t, newGuard().settle(0))
	require.ErrorIs(t, g.settle(7), errTwoHolders)
}

// Two that have mapped one file see each other.
func TestGuardInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guard")
	var guards [2]*guard
	for process := range guards {
		g, err := openGuard(file, process)
		require.NoError(t, err)
		defer func() { require.NoError(t, g.unmap()) }()
		guards[process] = g
	}
	_, _, err := guards[0].enter(1, instant())
	require.NoError(t, err)
	_, _, err = guards[1].enter(2, instant())
	require.ErrorIs(t, err, errTwoHolders)
	require.NoError(t, guards[0].leave(1))
	_, _, err = guards[1].enter(2, instant())
	require.NoError(t, err)
	require.NoError(t, guards[1].leave(2))
	require.EqualValues(t, 2, guards[0].grants())
	require.EqualValues(t, 1, guards[0].load(wordProcess))
	require.EqualValues(t, 1, guards[0].load(wordProcess+1))
	_, err = openGuard(file, guardProcesses)
	require.Error(t, err)
}
