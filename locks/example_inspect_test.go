package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// onServer runs an example on a server of its own.
func onServer(run func(ctx context.Context, client *locks.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := locks.Open(ctx, server.Addr(), locks.WithSessionTimeout(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	if err := run(ctx, client); err != nil {
		fmt.Println(err)
	}
}

func ExampleClient_Queue() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		if _, err := client.Semaphore("/printers", 2, locks.WithLabel("billing")).Acquire(ctx, 2); err != nil {
			return err
		}
		contenders, err := client.Queue(ctx, "/printers")
		for _, c := range contenders {
			fmt.Println(c.Mode, c.Library, c.Label, "holds:", c.Holds, "weight:", c.Weight)
		}
		return err
	})
	// Output: semaphore turnstile billing holds: true weight: 2
}

func ExampleClient_Locks() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		for _, path := range []string{"/orders/42", "/orders/43"} {
			if _, err := client.Mutex(path).Lock(ctx); err != nil {
				return err
			}
		}
		tree, err := client.Locks(ctx, "/orders")
		if err != nil {
			return err
		}
		for _, l := range tree.Locks {
			fmt.Println(l.Path, "holders:", l.Holders, "waiters:", l.Waiters)
		}
		return nil
	})
	// Output:
	// /orders/42 holders: 1 waiters: 0
	// /orders/43 holders: 1 waiters: 0
}

func ExampleClient_Revoke() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		asked, err := client.Revoke(ctx, "/orders/42") // in any program
		if err != nil {
			return err
		}
		fmt.Println("asked", len(asked))
		<-lease.Revoked() // in the holder's
		if err := lease.Unlock(ctx); err != nil {
			return err
		}
		_, err = client.Revoke(ctx, "/orders/42")
		fmt.Println("nobody left:", errors.Is(err, locks.ErrNotHolding))
		return nil
	})
	// Output:
	// asked 1
	// nobody left: true
}

func ExampleClient_Break() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		contenders, err := client.Queue(ctx, "/orders/42")
		if err != nil {
			return err
		}
		if err := client.Break(ctx, contenders[0]); err != nil { // in any program
			return err
		}
		<-lease.Context().Done() // in the holder's
		fmt.Println("lost:", errors.Is(context.Cause(lease.Context()), locks.ErrLost))
		return nil
	})
	// Output: lost: true
}

// Each of two callers holds what the other waits for, for ever. An operator finds them, and one is told to give up.
func ExampleClient_Deadlocks() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		x, err := client.Mutex("/accounts/x").Lock(ctx)
		if err != nil {
			return err
		}
		y, err := client.Mutex("/accounts/y").Lock(ctx)
		if err != nil {
			return err
		}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { // who has x wants y
			_, err := client.Mutex("/accounts/y").Lock(x.Context())
			first <- errors.Join(err, x.Unlock(ctx))
		}()
		within, giveUp := context.WithCancel(y.Context())
		defer giveUp()
		go func() { // who has y wants x
			_, err := client.Mutex("/accounts/x").Lock(within)
			second <- errors.Join(err, y.Unlock(ctx))
		}()

		var found []messages.Deadlock
		for ; len(found) == 0; time.Sleep(20 * time.Millisecond) {
			if found, err = client.Deadlocks(ctx, "/accounts"); err != nil {
				return err
			}
		}
		fmt.Println("members:", len(found[0].Members))
		giveUp()
		fmt.Println("gave up:", errors.Is(<-second, context.Canceled))
		fmt.Println("the other:", <-first)
		return nil
	})
	// Output:
	// members: 2
	// gave up: true
	// the other: <nil>
}
