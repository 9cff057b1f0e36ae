package main

import (
	"context"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// treeEvery is how often a live tree is read.
const treeEvery = 2 * time.Second

// watchTree shows a tree as it changes. Where servers do not answer it says so, and waits for them.
func watchTree(ctx context.Context, client *locks.Client, read func(context.Context) (forest, error), asJSON, long bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	forests := make(chan forest)
	go func() {
		for {
			f, err := read(ctx) // for as long as somebody looks, as a queue is followed
			if err != nil {
				cancel(err)
				return
			}
			select {
			case forests <- f:
			case <-ctx.Done():
				return
			}
			if !pause(ctx, treeEvery) {
				return
			}
		}
	}()
	if asJSON {
		for {
			select {
			case f := <-forests:
				if err := printJSON(f.json(), true); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	var mu sync.Mutex
	var newest *forest
	changed := make(chan struct{})
	go func() {
		for {
			select {
			case f := <-forests:
				mu.Lock()
				newest = &f
				mu.Unlock()
			case <-ctx.Done():
				return
			}
			select {
			case changed <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return onScreen(ctx, changed, func(width int) []string {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if newest == nil {
			return stamped(client, []string{"reading"}, now)
		}
		return stamped(client, newest.lines(long, now, width), now)
	})
}
