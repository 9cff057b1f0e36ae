package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// memorySession makes the node of a lock, hands it over in memory from one worker to the next, and
// deletes it after so many grants, or when nobody waits. It keeps out the other workers of its
// session, in the order in which they came, and nobody else. It shows the most that the servers and
// a bare program allow to any lock whose node serves so many holders of a session.
type memorySession struct {
	*connection
	grants int // that a node serves

	mu    sync.Mutex
	locks map[string]*memoryLock
}

// memoryLock is one lock of a session.
type memoryLock struct {
	held    bool            // or handed over
	waiting []chan struct{} // the waiters, in order; the session's mu guards both

	node string // that serves; only the holder touches what follows
	left int    // grants that it still serves
}

// openInMemory opens such a session.
func openInMemory(grants int) opener {
	return func(ctx context.Context, servers string, timeout time.Duration) (session, error) {
		c, err := connect(ctx, servers, timeout)
		if err != nil {
			return nil, err
		}
		return &memorySession{connection: c, grants: grants, locks: map[string]*memoryLock{}}, nil
	}
}

func (s *memorySession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	l, turn := s.queue(path)
	select {
	case <-turn:
	case <-ctx.Done(): // of all workers: nobody is let in any more
		return nil, context.Cause(ctx)
	}
	if l.node == "" {
		node, err := s.Create(path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
		if err != nil {
			s.pass(l)
			return nil, fmt.Errorf("bench: create in %s: %w", path, err)
		}
		l.node, l.left = node, s.grants
	}
	return func(context.Context) error { return s.unlock(l) }, nil
}

func (s *memorySession) unlock(l *memoryLock) (err error) {
	if l.left--; l.left == 0 || !s.wanted(l) {
		err = s.Delete(l.node, -1)
		l.node = ""
	}
	s.pass(l)
	return err
}

// queue gives the lock at a path, and what tells when it is the caller's turn.
func (s *memorySession) queue(path string) (*memoryLock, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks[path]
	if l == nil {
		l = &memoryLock{}
		s.locks[path] = l
	}
	turn := make(chan struct{}, 1)
	if l.held {
		l.waiting = append(l.waiting, turn)
	} else {
		l.held = true
		turn <- struct{}{}
	}
	return l, turn
}

// wanted reports whether somebody waits.
func (s *memorySession) wanted(l *memoryLock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(l.waiting) > 0
}

// pass hands the lock to the next.
func (s *memorySession) pass(l *memoryLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(l.waiting) == 0 {
		l.held = false
		return
	}
	l.waiting[0] <- struct{}{}
	l.waiting = l.waiting[1:]
}
