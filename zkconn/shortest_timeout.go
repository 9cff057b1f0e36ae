package zkconn

import (
	"sync"
	"time"
)

// shortestTimeout is the shortest session timeout that a server of one list has granted, in any session.
type shortestTimeout struct {
	mu sync.Mutex
	d  time.Duration // 0 before there was one
}

func (s *shortestTimeout) note(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.d == 0 || d < s.d {
		s.d = d
	}
}

// with gives the shorter of this and another timeout, where 0 stands for none.
func (s *shortestTimeout) with(other time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.d == 0:
		return other
	case other == 0:
		return s.d
	}
	return min(s.d, other)
}
