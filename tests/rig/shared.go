package rig

import (
	"sync"
	"testing"
)

// Shared is a server for several tests, none of which harms it. Each test uses paths of its own. The first [Shared.Get]
// starts the server; TestMain calls [Shared.Stop].
type Shared struct {
	// Start starts the server. It may end the test. Nil means [NewStandalone] without options.
	Start func(t testing.TB) (*Server, error)

	mu     sync.Mutex
	server *Server
}

// Get returns the server, and shows what it wrote when the test fails. It calls [Require].
func (s *Shared) Get(t testing.TB) *Server {
	t.Helper()
	Require(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil { // where a start failed, the next test tries again: sync.Once would not
		server, err := s.start(t)
		if err != nil {
			t.Fatal(err)
		}
		s.server = server
	}
	showAtEnd(t, s.server)
	return s.server
}

func (s *Shared) start(t testing.TB) (*Server, error) {
	t.Helper()
	if s.Start == nil {
		return NewStandalone()
	}
	return s.Start(t)
}

// Stop stops the server for good, if a test has started it.
func (s *Shared) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.Stop()
}
