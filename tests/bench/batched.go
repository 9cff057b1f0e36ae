package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// batchedSession makes the node of a lock and deletes it, as bareSession does, in transactions that
// combine the requests of many workers, and keeps nobody out. It shows the most that the servers
// and go-zookeeper allow to any lock that makes and deletes a node for each of its holders, on this
// machine.
type batchedSession struct {
	*connection
	parts chan batchedPart
	ended sync.WaitGroup
	once  sync.Once
	over  chan struct{}
}

// batchedPart is one worker's create or delete.
type batchedPart struct {
	operation any
	made      chan batchedAnswer
}

type batchedAnswer struct {
	node string
	err  error
}

// Bounds as those of Turnstile: operations of a transaction, and transactions under way. Fewer are under way where
// there are not enough workers to fill them.
const (
	batchedTogether = 256
	batchedUnderway = 4
	batchedEach     = 64
)

// openBatched opens such a session for so many workers.
func openBatched(workers int) opener {
	return func(ctx context.Context, servers string, timeout time.Duration) (session, error) {
		c, err := connect(ctx, servers, timeout)
		if err != nil {
			return nil, err
		}
		s := &batchedSession{connection: c, parts: make(chan batchedPart, workers), over: make(chan struct{})}
		for range min(max(workers/batchedEach, 1), batchedUnderway) {
			s.ended.Go(s.send)
		}
		return s, nil
	}
}

// send sends what has come, one transaction after the other.
func (s *batchedSession) send() {
	for {
		var together []batchedPart
		select {
		case part := <-s.parts:
			together = append(together, part)
		case <-s.over:
			return
		}
		for more := true; more && len(together) < batchedTogether; {
			select {
			case part := <-s.parts:
				together = append(together, part)
			default:
				more = false
			}
		}
		operations := make([]any, len(together))
		for i, part := range together {
			operations[i] = part.operation
		}
		answers, err := s.Multi(operations...)
		if err == nil && len(answers) != len(together) {
			err = errors.New("answers are missing")
		}
		for i, part := range together {
			if err != nil {
				part.made <- batchedAnswer{err: fmt.Errorf("bench: transaction of %d: %w", len(together), err)}
				continue
			}
			part.made <- batchedAnswer{node: answers[i].String}
		}
	}
}

// ask waits for the answer to one part.
func (s *batchedSession) ask(ctx context.Context, operation any) (node string, err error) {
	part := batchedPart{operation, make(chan batchedAnswer, 1)}
	select {
	case s.parts <- part:
	case <-s.over:
		return "", context.Cause(ctx)
	}
	select {
	case answer := <-part.made:
		return answer.node, answer.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *batchedSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	node, err := s.ask(ctx, &zk.CreateRequest{Path: path + "/lock-", Acl: openACL, Flags: zk.FlagEphemeral | zk.FlagSequence})
	if err != nil {
		return nil, fmt.Errorf("bench: create in %s: %w", path, err)
	}
	return func(ctx context.Context) error {
		_, err := s.ask(ctx, &zk.DeleteRequest{Path: node, Version: -1})
		return err
	}, nil
}

func (s *batchedSession) close() {
	s.once.Do(func() { close(s.over) })
	s.connection.close()
	s.ended.Wait()
}
