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

// load is the load that the workers make.
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
		var lock locks.Locker = client.Mutex(fmt.Sprintf("%s/%d", l.root, rand.IntN(l.locks)))
		if rand.IntN(10) == 0 {
			lock = locks.Try(lock)
		}
		err := locks.Do(ctx, lock, func(ctx context.Context, _ locks.Token) error { rest(ctx, l.hold); return nil })
		// Losses and revocations are in the figures.
		if err != nil && ctx.Err() == nil && !locks.MayPass(err) {
			return err
		}
		rest(ctx, l.pause)
	}
	return nil
}

// rest waits for up to twice the time, or until ctx ends.
func rest(ctx context.Context, usual time.Duration) {
	select {
	case <-time.After(time.Duration(rand.Int64N(2*int64(usual) + 1))):
	case <-ctx.Done():
	}
}
