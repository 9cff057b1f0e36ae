package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// memorySession makes the node of a lock, hands it over in memory from one worker to the next, and
// deletes it after so many grants, or when nobody waits. It keeps out the other workers of its
// session, and nobody else. It shows the most that the servers and
// a bare program allow to any lock whose node serves so many holders of a session.
type memorySession struct {
	*connection
	grants int      // that a node serves
	locks  sync.Map // by their paths
}

// memoryLock is one lock of a session.
type memoryLock struct {
	turn    chan struct{}
	waiting atomic.Int64

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
		return &memorySession{connection: c, grants: grants}, nil
	}
}

func (s *memorySession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	known, found := s.locks.Load(path)
	if !found {
		made := &memoryLock{turn: make(chan struct{}, 1)}
		made.turn <- struct{}{}
		known, _ = s.locks.LoadOrStore(path, made)
	}
	l := known.(*memoryLock)
	l.waiting.Add(1)
	select {
	case <-l.turn:
	case <-ctx.Done(): // of all workers: nobody is let in any more
		return nil, context.Cause(ctx)
	}
	l.waiting.Add(-1)
	if l.node == "" {
		node, err := s.Create(path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
		if err != nil {
			l.turn <- struct{}{}
			return nil, fmt.Errorf("bench: create in %s: %w", path, err)
		}
		l.node, l.left = node, s.grants
	}
	return func(context.Context) (err error) {
		if l.left--; l.left == 0 || l.waiting.Load() == 0 {
			err = s.Delete(l.node, -1)
			l.node = ""
		}
		l.turn <- struct{}{}
		return err
	}, nil
}
