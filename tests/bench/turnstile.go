package main

import (
	"context"
	"math"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// session is one ZooKeeper session of a client library in this process, as its locks use it.
type session interface {
	// lock waits until the lock at a path is held, and gives what gives it back. One that cannot give up ignores
	// ctx, and returns when the session is closed.
	lock(ctx context.Context, path string) (unlock func(context.Context) error, err error)
	// close ends the session and waits until what it started has ended.
	close()
}

// opener opens a session with the servers of a connect string.
type opener func(ctx context.Context, connect string, timeout time.Duration) (session, error)

// openAll opens a session with each of the servers; after an error it closes the ones that are
// open.
func openAll(ctx context.Context, open opener, connects []string, timeout time.Duration) ([]session, error) {
	var opened []session
	for _, connect := range connects {
		s, err := open(ctx, connect, timeout)
		if err != nil {
			closeAll(opened)
			return nil, err
		}
		opened = append(opened, s)
	}
	return opened, nil
}

func closeAll(sessions []session) {
	for _, s := range sessions {
		s.close()
	}
}

// turnstileSession locks by package locks.
type turnstileSession struct {
	client *locks.Client
	how    []locks.LockOption
}

// openTurnstileWith opens sessions with options, whose locks have options, too.
func openTurnstileWith(opts []locks.Option, how ...locks.LockOption) opener {
	return func(ctx context.Context, servers string, timeout time.Duration) (session, error) {
		client, err := locks.Open(ctx, servers, append([]locks.Option{locks.WithSessionTimeout(timeout)}, opts...)...)
		if err != nil {
			return nil, err
		}
		return &turnstileSession{client, how}, nil
	}
}

var openTurnstile = openTurnstileWith(nil)

// openCohort lets so many grants in a row pass inside a session.
func openCohort(grants int) opener { return openTurnstileWith(nil, locks.WithCohort(grants)) }

// unbounded lifts the bounds of the nodes that a session has at the servers, where every request is
// to have a node, as with the peers. One server by itself takes the end of such a session.
var unbounded = []locks.Option{locks.WithMaxWaiting(math.MaxInt32), locks.WithMaxNodeBytes(math.MaxInt32)}

func (s *turnstileSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	lease, err := s.client.Mutex(path, s.how...).Lock(ctx)
	if err != nil {
		return nil, err
	}
	return lease.Unlock, nil
}

// close waits for a minute at most; what outlives it is a fault that the smoke test finds.
func (s *turnstileSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = s.client.Close(ctx)
}
