package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

var openACL = zk.WorldACL(zk.PermAll)

// connection is a session of go-zookeeper.
type connection struct {
	*zk.Conn
	events <-chan zk.Event
	once   sync.Once
}

// connect waits until there is a session. The end of ctx closes it: requests have no context, and would wait for as
// long as the servers are gone.
func connect(ctx context.Context, servers string, timeout time.Duration) (*connection, error) {
	conn, events, err := zk.Connect(strings.Split(servers, ","), timeout, zk.WithLogger(rig.Silent{}))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	c := &connection{Conn: conn, events: events}
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				context.AfterFunc(ctx, c.close)
				return c, nil
			}
		case <-ctx.Done():
			c.close()
			return nil, fmt.Errorf("bench: no session with %s: %w", servers, ctx.Err())
		}
	}
}

// close ends the session, and waits for the library's goroutines, whose last deed is to close the channel of events.
// Now and then they never end when calls are under way; so that is not waited for without a bound.
func (c *connection) close() {
	c.once.Do(func() {
		c.Conn.Close()
		for patience := time.After(grace); ; {
			select {
			case _, more := <-c.events:
				if !more {
					return
				}
			case <-patience:
				return
			}
		}
	})
}

// makePath makes a persistent node and those above it.
func (c *connection) makePath(path string) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if _, err := c.Create(path[:i], nil, 0, openACL); err != nil && err != zk.ErrNodeExists {
			return fmt.Errorf("bench: create %s: %w", path[:i], err)
		}
	}
	return nil
}

// zkLockSession locks by go-zookeeper's Lock, as it is meant to be used.
type zkLockSession struct{ *connection }

func openZkLock(ctx context.Context, servers string, timeout time.Duration) (session, error) {
	c, err := connect(ctx, servers, timeout)
	if err != nil {
		return nil, err
	}
	return zkLockSession{c}, nil
}

func (s zkLockSession) lock(_ context.Context, path string) (func(context.Context) error, error) {
	lock := zk.NewLock(s.Conn, path, openACL)
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("bench: zk.Lock %s: %w", path, err)
	}
	return func(context.Context) error { return lock.Unlock() }, nil
}

// bareSession makes the node of a lock and deletes it, and keeps nobody out.
type bareSession struct{ *connection }

func openBare(ctx context.Context, servers string, timeout time.Duration) (session, error) {
	c, err := connect(ctx, servers, timeout)
	if err != nil {
		return nil, err
	}
	return bareSession{c}, nil
}

func (s bareSession) lock(_ context.Context, path string) (func(context.Context) error, error) {
	node, err := s.Create(path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
	if err != nil {
		return nil, fmt.Errorf("bench: create in %s: %w", path, err)
	}
	return func(context.Context) error { return s.Delete(node, -1) }, nil
}
