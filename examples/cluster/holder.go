package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/rpc"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// givenBack is the end of a hold that was not lost.
const givenBack = "given back"

// look is the pause between two reports of a holder to the witness.
const look = 3 * time.Millisecond

// holder tells the witness of holds.
type holder struct {
	witness *rpc.Client
	node    string
}

// lease is the part of a lock's lease, or of a singleton's Activation, that a hold needs.
type lease interface {
	Valid() bool
	Context() context.Context
}

// hold tells the witness of a hold for a while, until ctx or the lease ends. The lease is not given back
// yet.
func (h *holder) hold(ctx context.Context, lasts time.Duration, what Look, held lease) error {
	what.Node = h.node
	var seen Seen
	until := time.Now().Add(lasts)
	for held.Valid() {
		if err := h.witness.Call("Witness.Look", what, &seen); err != nil {
			return err
		}
		what.ID, what.Confirms = seen.ID, 0
		if held.Valid() { // then it was when the number was given
			what.Confirms = seen.Number
		}
		stopped := held.Context().Err() != nil && held.Valid() // in order: a lease that is lost is not valid
		if ctx.Err() != nil || stopped || time.Now().After(until) && !seen.Stay {
			what.Ends = givenBack
			return h.witness.Call("Witness.Look", what, &seen)
		}
		select {
		case <-ctx.Done():
		case <-held.Context().Done():
		case <-time.After(look):
		}
	}
	if what.ID == 0 {
		return nil // it was lost before anybody had heard of it
	}
	<-held.Context().Done() // at once, or as soon as its lock actor has looked at the clock
	what.Ends = fmt.Sprint(context.Cause(held.Context()))
	return h.witness.Call("Witness.Look", what, &seen)
}

// work locks, holds for a while and gives back, again and again, until ctx ends.
func (h *holder) work(ctx context.Context, client *locks.Client, who, by string) error {
	for ctx.Err() == nil {
		held, err := client.Mutex(lockPath, locks.WithLabel(h.node+" "+who)).Lock(ctx)
		if err != nil {
			time.Sleep(50 * time.Millisecond) // nobody answers, or ctx has ended
			continue
		}
		err = h.hold(ctx, 50*time.Millisecond+rand.N(100*time.Millisecond),
			Look{Path: lockPath, Who: who, By: by, Token: int64(held.Token()), Session: held.Session()}, held)
		held.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// workers run some workers, and give the first error of theirs when they have ended.
func (h *holder) workers(ctx context.Context, n int, client *locks.Client, by string) error {
	var all sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		all.Go(func() { failed <- h.work(ctx, client, fmt.Sprint("worker ", i+1), by) })
	}
	all.Wait()
	for range n {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}
