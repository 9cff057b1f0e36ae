package main

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node serves so many grants as long as somebody waits, and goes at once otherwise.
func TestANodeIsHandedOverInMemory(t *testing.T) {
	s := embeddedStage(t)
	const path, waiters = "/in-memory", 10
	require.NoError(t, s.monitor.makePath(path))
	opened, err := openInMemory(3)(t.Context(), s.connect(0), timeout)
	require.NoError(t, err)
	defer opened.close()
	made := func(nodes int) {
		left, about, err := s.monitor.Children(path)
		require.NoError(t, err)
		require.Empty(t, left)
		require.EqualValues(t, 2*nodes, about.Cversion, "a change for each create, and one for each delete")
	}
	cycle := func() {
		unlock, err := opened.lock(t.Context(), path)
		if err == nil {
			err = unlock(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	}
	unlock, err := opened.lock(t.Context(), path)
	require.NoError(t, err)
	var waiting sync.WaitGroup
	for range waiters {
		waiting.Go(cycle)
	}
	known, _ := opened.(*memorySession).locks.Load(path)
	require.Eventually(t, func() bool { return known.(*memoryLock).waiting.Load() == waiters }, time.Minute, time.Millisecond)
	require.NoError(t, unlock(t.Context()))
	waiting.Wait()
	made(4) // eleven grants, three a node
	cycle()
	cycle()
	made(6)
}
