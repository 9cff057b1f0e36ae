// Package demo is a server in memory with workers that lock, so that a dashboard has something to
// show. There is a lock that changes hands often and one that seldom does. There are readers and
// writers, permits, an election, and two tellers who now and then wait for each other. A crowd of
// waiters is added on request.
package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sessionTimeout is long, so that nothing is lost because the machine is slow.
const sessionTimeout = 30 * time.Second

// Scene is a server and its workers.
type Scene struct {
	server  *embedded.Server
	clients []*locks.Client
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
}

// Start starts all of it. A crowd of so many contenders more waits for one lock.
func Start(crowd int) (*Scene, error) {
	server, err := embedded.Start()
	if err != nil {
		return nil, err
	}
	s := &Scene{server: server}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range 3 { // as if they were on three machines
		opening, cancel := context.WithTimeout(s.ctx, sessionTimeout)
		client, err := locks.Open(opening, server.Addr(), locks.WithSessionTimeout(sessionTimeout))
		cancel()
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("demo: %w", err)
		}
		s.clients = append(s.clients, client)
	}
	s.shop()
	s.media()
	s.bank()
	if crowd > 0 {
		if err := s.gather(crowd); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Servers is the address of the server.
func (s *Scene) Servers() string { return s.server.Addr() }

// Close ends the workers and the server.
func (s *Scene) Close() {
	s.cancel()
	s.workers.Wait()
	closing, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	for _, client := range s.clients {
		_ = client.Close(closing)
	}
	s.server.Close()
}

// client gives the client of the n-th worker.
func (s *Scene) client(n int) *locks.Client { return s.clients[n%len(s.clients)] }
