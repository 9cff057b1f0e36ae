package interop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// goClient is a client of this process. It opens a session for a job, and gives how a goroutine that
// uses the session acquires by a recipe.
type goClient func(t *testing.T, job Job) (with func(recipe Recipe) acquire)

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
		with := client(t, job)
		for thread := range max(job.Threads, 1) {
			one := newCompetitor(job, with, session, thread)
			running.Go(func() {
				if err := one.compete(ctx, witness); err != nil {
					errs.add(fmt.Errorf("%s: %w", one.holder, err))
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

// competitor is a goroutine of a contest.
type competitor struct {
	holder, path string
	rounds, from int
	cycle        []turn // what it acquires, round by round, and over again
}

type turn struct {
	acquire acquire
	claim   Claim
}

func newCompetitor(job Job, with func(Recipe) acquire, session, thread int) competitor {
	c := competitor{
		holder: job.Holder(session+1, thread+1), path: job.Path, rounds: max(job.Rounds, 1),
		from: session + thread, // they are not all at the same place of the cycle
	}
	recipes := []Recipe{job.Recipe}
	if job.Recipe == ReadWrite {
		recipes = []Recipe{Read, Read, Write}
	}
	for _, recipe := range recipes {
		claim := Exclusive()
		if recipe == Read {
			claim = Shared()
		}
		c.cycle = append(c.cycle, turn{with(recipe), claim})
	}
	return c
}

func (c competitor) compete(ctx context.Context, witness *Witness) error {
	for round := range c.rounds {
		turn := c.cycle[(c.from+round)%len(c.cycle)]
		held, err := turn.acquire(ctx)
		if err != nil {
			return err
		}
		if err := witness.EnterWith(held.node, c.holder, c.path, turn.claim); err != nil {
			return errors.Join(err, witness.Leave(c.holder, c.path), held.release(ctx))
		}
		if err := errors.Join(witness.Leave(c.holder, c.path), held.release(ctx)); err != nil {
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
