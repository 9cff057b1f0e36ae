package main

import (
	"context"
	"sync"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// readQueues reads the queues of locks, several at a time.
func readQueues(ctx context.Context, client *locks.Client,
	all []messages.LockCount) (map[string][]messages.Contender, error) {
	var mu sync.Mutex
	var reads sync.WaitGroup
	var first error
	byPath := map[string][]messages.Contender{}
	room := make(chan struct{}, 8)
	asked := map[string]bool{}
	for _, l := range all {
		if asked[l.Path] {
			continue
		}
		asked[l.Path] = true
		room <- struct{}{}
		reads.Go(func() {
			defer func() { <-room }()
			queue, err := client.Queue(ctx, l.Path)
			mu.Lock()
			defer mu.Unlock()
			byPath[l.Path] = queue
			if first == nil {
				first = err
			}
		})
	}
	reads.Wait()
	return byPath, first
}
