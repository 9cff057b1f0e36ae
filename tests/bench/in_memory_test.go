package main

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Workers have their turns in the order in which they came; a node that nobody waits for goes at once.
func TestInMemoryIsFIFO(t *testing.T) {
	s := embeddedStage(t)
	const path, waiters = "/fifo", 10
	require.NoError(t, s.monitor.makePath(path))
	opened, err := openInMemory(3)(t.Context(), s.connect(0), timeout)
	require.NoError(t, err)
	defer opened.close()
	unlock, err := opened.lock(t.Context(), path)
	require.NoError(t, err)
	var got []int
	var waiting sync.WaitGroup
	for w := range waiters {
		waiting.Go(func() {
			unlock, err := opened.lock(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			got = append(got, w)
			if err := unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
		require.Eventually(t, func() bool {
			s := opened.(*memorySession)
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.locks[path].waiting) == w+1
		}, time.Minute, time.Millisecond)
	}
	require.NoError(t, unlock(t.Context()))
	waiting.Wait()
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, got)
	_, about, err := s.monitor.Children(path)
	require.NoError(t, err)
	require.EqualValues(t, 2*4, about.Cversion, "eleven grants, three a node")
	for range 2 {
		unlock, err := opened.lock(t.Context(), path)
		require.NoError(t, err)
		require.NoError(t, unlock(t.Context()))
	}
	_, about, err = s.monitor.Children(path)
	require.NoError(t, err)
	require.EqualValues(t, 2*6, about.Cversion, "nobody waits")
}
