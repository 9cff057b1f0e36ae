package interop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// goClient is a client of this process. It opens a session for a job, and gives how each goroutine
// that uses the session acquires.
type goClient func(t *testing.T, job Job) (newThread func() acquire)

// acquire acquires a lock, and waits as long as it takes.
type acquire func(ctx context.Context) (held, error)

// held is a lock that is held: by which node, and how to give it back.
type held struct {
	node    string
	release func(ctx context.Context) error
}

// startHere has goroutines of this process do a contest as the threads of a [Worker] would.
func startHere(t *testing.T, client goClient, witness *Witness, job Job) pending {
	t.Helper()
	ctx, cancel := context.WithCancel(within(t, job))
	var running sync.WaitGroup
	var errs joined
	for session := range max(job.Sessions, 1) {
		newThread := client(t, job)
		for thread := range max(job.Threads, 1) {
			acquire, holder := newThread(), job.Holder(session+1, thread+1)
			running.Go(func() {
				if err := compete(ctx, acquire, witness, job, holder); err != nil {
					errs.add(fmt.Errorf("%s: %w", holder, err))
					cancel() // as the other clients' contests end with the first failure
				}
			})
		}
	}
	p := pending{make(chan error, 1)}
	go func() {
		defer cancel()
		running.Wait()
		p.done <- errs.err()
	}()
	return p
}

func compete(ctx context.Context, acquire acquire, witness *Witness, job Job, holder string) error {
	for range max(job.Rounds, 1) {
		held, err := acquire(ctx)
		if err != nil {
			return err
		}
		if err := witness.EnterWith(held.node, holder, job.Path, Exclusive()); err != nil {
			return errors.Join(err, witness.Leave(holder, job.Path), held.release(ctx))
		}
		if err := errors.Join(witness.Leave(holder, job.Path), held.release(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// joined collects errors of several goroutines.
type joined struct {
	mu  sync.Mutex
	all []error
}

func (j *joined) add(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, err)
}

func (j *joined) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(j.all...)
}
