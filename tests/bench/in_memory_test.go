package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memoryGrants is the number of grants that a node serves.
const memoryGrants = 64

// A node serves so many grants, and then there is another, as long as somebody waits.
func TestANodeIsHandedOverInMemory(t *testing.T) {
	s := embeddedStage(t, 1)
	const path, workers, cycles = "/in-memory", 5, 100
	require.NoError(t, s.monitor.makePath(path))
	opened, err := openInMemory(memoryGrants)(t.Context(), s.connect(0), timeout)
	require.NoError(t, err)
	defer opened.close()
	g := newGuard()
	hold, err := opened.lock(t.Context(), path)
	require.NoError(t, err)
	var working sync.WaitGroup
	for w := range workers {
		working.Go(func() {
			for range cycles {
				unlock, err := opened.lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := g.enter(int64(w+1), instant()); err != nil {
					t.Error(err)
				}
				if err := g.leave(int64(w + 1)); err != nil {
					t.Error(err)
				}
				if err := unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	opened.(*memorySession).awaitWaiting(t, path, workers)
	require.NoError(t, hold(t.Context()))
	working.Wait()
	require.NoError(t, g.settle(workers*cycles))
	left, about, err := s.monitor.Children(path)
	require.NoError(t, err)
	require.Empty(t, left)
	nodes := int(about.Cversion) / 2 // one change for each create, and one for each delete
	require.GreaterOrEqual(t, nodes, (workers*cycles+1+memoryGrants-1)/memoryGrants)
	require.Less(t, nodes, workers*cycles/4, "most grants are in memory")
}

// awaitWaiting waits until so many wait.
func (s *memorySession) awaitWaiting(t *testing.T, path string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.locks[path].waiting) == n
	}, time.Minute, time.Millisecond)
}

// Workers have their turns in the order in which they came; a node that nobody waits for goes at once.
func TestInMemoryIsFIFO(t *testing.T) {
	s := embeddedStage(t, 1)
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
		opened.(*memorySession).awaitWaiting(t, path, w+1)
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

// It is the floor of a workload, with whose peers it is compared.
func TestRealInMemoryIsAFloor(t *testing.T) {
	w := one
	w.floor, w.bare = inMemory, func(ctx context.Context, t trial) (figures, error) {
		return oneFigures(t.together(ctx, openInMemory(memoryGrants), newGuard()))
	}
	b, lines := runWorkload(t, embeddedStage(t, 1), w, 3)
	require.False(t, b.found.failed)
	for _, name := range []string{"one", "one-p50", "one-p99", "one-packets", "one-client-cpu"} {
		require.Regexp(t, `(?m)^`+name+` n=3 memory [\d.]+ `, lines)
		require.Regexp(t, `(?m)^ratio `+name+` n=3 turnstile/memory [\d.]+ `, lines)
		if name != "one-p50" && name != "one-p99" {
			require.Regexp(t, `(?m)^ratio `+name+` n=3 turnstile/batched [\d.]+ `, lines)
		}
	}
}
