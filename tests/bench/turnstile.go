package main

import (
	"context"
	"math"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// closing bounds the end of a session; what outlives it is a fault that the smoke test finds.
const closing = time.Minute

// turnstileSession locks by package locks.
type turnstileSession struct {
	client *locks.Client
	how    []locks.LockOption
}

func openTurnstile(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
	return openWith(ctx, servers, locks.WithSessionTimeout(timeout))
}

// openWithFile keeps the session in a file.
func openWithFile(file string) opener {
	return func(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
		return openWith(ctx, servers, locks.WithSessionTimeout(timeout), locks.WithSessionFile(file))
	}
}

// unbounded lifts the bounds of the nodes that a session has at the servers, where every request is
// to have a node, as with the peers. One server by itself takes the end of such a session.
func unbounded() []locks.Option {
	return []locks.Option{locks.WithMaxWaiting(math.MaxInt32), locks.WithMaxNodeBytes(math.MaxInt32)}
}

// openUnbounded opens a session without them.
func openUnbounded(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
	return openWith(ctx, servers, append(unbounded(), locks.WithSessionTimeout(timeout))...)
}

// openSticky keeps the nodes of locks that nobody else asks for.
func openSticky(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
	client, err := locks.Open(ctx, servers, locks.WithSessionTimeout(timeout))
	if err != nil {
		return nil, err
	}
	return &turnstileSession{client, []locks.LockOption{locks.WithSticky(time.Minute)}}, nil
}

// openCohort lets so many grants in a row pass inside a session.
func openCohort(grants int) opener {
	return func(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
		client, err := locks.Open(ctx, servers, locks.WithSessionTimeout(timeout))
		if err != nil {
			return nil, err
		}
		return &turnstileSession{client, []locks.LockOption{locks.WithCohort(grants)}}, nil
	}
}

func openWith(ctx context.Context, servers string, opts ...locks.Option) (session, error) {
	client, err := locks.Open(ctx, servers, opts...)
	if err != nil {
		return nil, err
	}
	return &turnstileSession{client: client}, nil
}

func (s *turnstileSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	lease, err := s.client.Mutex(path, s.how...).Lock(ctx)
	if err != nil {
		return nil, err
	}
	return lease.Unlock, nil
}

func (s *turnstileSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	_ = s.client.Close(ctx)
}
