package locks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// Four workers count. The counter is no atomic and has no other mutex: the lock keeps them apart,
// as it would if each were on a machine of its own.
func ExampleMutex_Lock() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		counter := 0
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range 5 {
					mutex := client.Mutex("/counter", locks.WithLabel("counting"))
					err := locks.Do(ctx, mutex, func(context.Context, locks.Token) error { counter++; return nil })
					if err != nil {
						fmt.Println(err)
					}
				}
			})
		}
		workers.Wait()
		fmt.Println(counter)
		return nil
	})
	// Output: 20
}

// Who finds the lock taken does something else. No node is left in the queue.
func ExampleMutex_TryLock() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/report").TryLock(ctx)
		if err != nil {
			return err
		}
		_, err = client.Mutex("/report").TryLock(ctx)
		fmt.Println("taken:", errors.Is(err, locks.ErrNotAcquired))
		queue, err := client.Queue(ctx, "/report")
		fmt.Println("in the queue:", len(queue))
		return errors.Join(err, lease.Unlock(ctx))
	})
	// Output:
	// taken: true
	// in the queue: 1
}

// The context bounds the wait. The error names the lock path, the node and the state; the node is
// deleted after Lock has returned.
func ExampleMutex_Lock_timeout() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/report").Lock(ctx)
		if err != nil {
			return err
		}
		hurried, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		_, err = client.Mutex("/report").Lock(hurried)
		var fault *locks.Error
		fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.As(err, &fault) && fault.Path == "/report")
		return lease.Unlock(ctx)
	})
	// Output: true true
}
