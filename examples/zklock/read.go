package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// follow gives the queue of a lock path at once and whenever somebody has come or gone, until ctx ends. The channel is
// closed after a queue with a reason, which is the last.
func follow(ctx context.Context, client *locks.Client, path string) <-chan *messages.Queue {
	queues, told := make(chan *messages.Queue), make(chan *messages.Queue)
	pid := client.System().Root.Spawn(actor.PropsFromFunc(func(a actor.Context) {
		switch msg := a.Message().(type) {
		case *actor.Started:
			a.Request(client.Session().PID(), &messages.Follow{Path: path})
		case *messages.Queue:
			select {
			case told <- msg:
			case <-ctx.Done():
			}
		}
	}))
	go func() {
		defer close(queues)
		defer client.System().Root.Stop(pid)
		for {
			select {
			case <-ctx.Done():
				return
			case q := <-told:
				select {
				case queues <- q:
				case <-ctx.Done():
					return
				}
				if q.Reason != messages.ReasonNone {
					return
				}
			}
		}
	}()
	return queues
}

// refusal is the error of a queue that may not be followed any more.
func refusal(q *messages.Queue) error {
	text := fmt.Sprintf("%s: %s", q.Path, q.Reason)
	if q.Detail != "" {
		text += ": " + q.Detail
	}
	return exitWith(statusRefused, "%s", text)
}

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
