package main

import (
	"context"
	"errors"
	"time"
)

// failoverTimeout is the session timeout of a holder that is killed.
const failoverTimeout = 4 * time.Second

// failover measures the time until a waiter holds after the process of the holder was killed.
var failover = workload{
	name: "failover", per: "waiters behind a holder whose process is killed, session timeout 4 s", sizes: []int{1}, quick: []int{1},
	metrics: []metric{
		{"failover", "ms", less, "From the end of the holder's process until the next holds, session timeout 4 s"},
		{"failover-beyond", "ms", neither, "From the end of the holder's process until the next holds, less the session timeout"},
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		held := make(chan struct{})
		s, err := open(ctx, t.stage.connect(1), timeout)
		if err != nil {
			return nil, err
		}
		defer s.close()
		stop := context.AfterFunc(ctx, s.close)
		defer stop()
		c, err := startChild(childSpec{Task: taskHold, Peer: t.peer, Connect: t.stage.connect(0), Path: t.path, Timeout: failoverTimeout})
		if err != nil {
			return nil, err
		}
		defer func() { _ = c.kill() }()
		if err := c.held(ctx); err != nil {
			return nil, err
		}
		failed := make(chan error, 1)
		go func() {
			unlock, err := s.lock(ctx, t.path)
			close(held)
			if err == nil {
				err = unlock(ctx)
			}
			failed <- err
		}()
		took, err := t.killed(ctx, c.kill, held)
		if err != nil {
			s.close()
		}
		return took, errors.Join(err, <-failed)
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) { return other.failover(ctx, t) },
}

// errTooSlow says that there was no failover to measure.
var errTooSlow = errors.New("bench: the holder's session expired before it was killed: the machine is too slow")

// killed kills a holder when somebody waits behind it, and measures until the waiter holds.
func (t trial) killed(ctx context.Context, kill func() error, held <-chan struct{}) (figures, error) {
	if _, err := t.stage.awaitChildren(ctx, t.path, 2); err != nil {
		return nil, err
	}
	if err := t.awaitQuiet(ctx); err != nil { // it waits
		return nil, err
	}
	select {
	case <-held:
		return nil, errTooSlow
	default:
	}
	begin := time.Now()
	if err := kill(); err != nil {
		return nil, err
	}
	select {
	case <-held:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	took := time.Since(begin)
	return figures{"failover": millis(took), "failover-beyond": millis(took - failoverTimeout)}, nil
}

// beHolder is the process that holds until it is killed.
func beHolder(ctx context.Context, spec childSpec, to *parent) error {
	if err := to.tell("runs"); err != nil {
		return err
	}
	open := libraries[spec.Peer]
	if spec.File != "" {
		open = openWithFile(spec.File)
	}
	s, err := open(ctx, spec.Connect, spec.Timeout)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.lock(ctx, spec.Path); err != nil {
		return err
	}
	return errors.Join(to.tell("held"), to.await())
}

// held waits until such a process holds.
func (c *offspring) held(ctx context.Context) error {
	if err := c.expect(ctx, nil); err != nil { // it runs
		return err
	}
	return c.expect(ctx, nil)
}
