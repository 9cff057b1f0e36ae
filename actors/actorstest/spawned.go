package actorstest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// spawned has what was spawned, by lock path, in order. The zero value is ready to use.
type spawned[T any] struct {
	mu      sync.Mutex
	all     map[string][]T
	given   map[string]int
	changed chan struct{} // closed and removed at a change
}

func (s *spawned[T]) add(path string, one T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all, s.given = map[string][]T{}, map[string]int{}
	}
	s.all[path] = append(s.all[path], one)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// next takes the first of a path that was not taken yet; else it gives a channel that is closed at
// the next change, and says what there was.
func (s *spawned[T]) next(path string) (one T, changed <-chan struct{}, had string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.given[path]; at < len(s.all[path]) {
		s.given[path]++
		return s.all[path][at], nil, ""
	}
	var seen []string
	for _, at := range slices.Sorted(maps.Keys(s.all)) {
		seen = append(seen, fmt.Sprintf("%d for %s", len(s.all[at]), at))
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return one, s.changed, cmp.Or(strings.Join(seen, ", "), "none")
}

func (s *spawned[T]) await(ctx context.Context, path string) (T, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for {
		one, changed, had := s.next(path)
		if changed == nil {
			return one, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return one, fmt.Errorf("awaiting a lock actor for %s; spawned so far: %s: %w", path, had, ctx.Err())
		}
	}
}
