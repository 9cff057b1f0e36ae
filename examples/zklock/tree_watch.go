package main

import (
	"cmp"
	"context"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// treeEvery is how often a live tree is read.
const treeEvery = 2 * time.Second

// watchTree shows a tree as it changes. Where servers do not answer it says so, and waits for them.
func watchTree(ctx context.Context, client *locks.Client, read func(context.Context) (forest, error), asJSON, long bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	forests := make(chan *forest)
	go func() {
		defer close(forests)
		for {
			f, err := read(ctx) // for as long as somebody looks, as a queue is followed
			if err != nil {
				cancel(err)
				return
			}
			select {
			case forests <- &f:
			case <-ctx.Done():
				return
			}
			if !pause(ctx, treeEvery) {
				return
			}
		}
	}()
	if asJSON {
		for f := range forests {
			if err := printJSON(f.json(), true); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
	_, err := watch(ctx, client, "reading", forests, func(f *forest, now time.Time, width int) []string {
		return f.lines(long, now, width)
	})
	return cmp.Or(err, context.Cause(ctx)) // a reading that fails ends both
}
