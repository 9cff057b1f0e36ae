package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// load is what the workers do.
type load struct {
	root           string
	workers, locks int
	hold, pause    time.Duration
}

// run lets the workers work until ctx ends.
func (l load) run(ctx context.Context, client *locks.Client) error {
	errs := make([]error, l.workers)
	var all sync.WaitGroup
	for n := range l.workers {
		all.Go(func() { errs[n] = l.work(ctx, client) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// work takes locks, one after the other: most patiently, some only if they are free.
func (l load) work(ctx context.Context, client *locks.Client) error {
	for ctx.Err() == nil {
		mutex := client.Mutex(fmt.Sprintf("%s/%d", l.root, rand.IntN(l.locks)))
		take := mutex.Lock
		if rand.IntN(10) == 0 {
			take = mutex.TryLock
		}
		lease, err := take(ctx)
		switch {
		case err == nil:
			rest(lease.Context(), ctx, l.hold)
			// What is lost or revoked meanwhile is in the figures.
			if err := lease.Unlock(context.WithoutCancel(ctx)); err != nil && errors.Is(err, locks.ErrFailed) {
				return err
			}
		case errors.Is(err, locks.ErrNotAcquired), ctx.Err() != nil:
		default:
			return err
		}
		rest(ctx, ctx, l.pause)
	}
	return nil
}

// rest waits for up to twice the time, or until either context ends.
func rest(one, other context.Context, usual time.Duration) {
	select {
	case <-time.After(time.Duration(rand.Int64N(2*int64(usual) + 1))):
	case <-one.Done():
	case <-other.Done():
	}
}
