package locks_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/locks"
)

// A lock for each order. An order number may be any string.
func ExampleClient_Keyed() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		orders := client.Keyed("/orders", locks.WithLabel("web2"))
		lease, err := orders.Lock(ctx, "2026/42")
		if err != nil {
			return err
		}
		fmt.Println("lock path:", lease.Path())
		_, err = orders.TryLock(ctx, "2026/42")
		fmt.Println("not free:", errors.Is(err, locks.ErrNotAcquired))
		another, err := orders.TryLock(ctx, "")
		if err != nil {
			return err
		}
		fmt.Println("another order:", another.Path())
		return errors.Join(another.Unlock(ctx), lease.Unlock(ctx))
	})
	// Output:
	// lock path: /orders/2026%2F42
	// not free: true
	// another order: /orders/%(empty)
}

// A library's Locker: it locks and unlocks by name, and OnLost hears of losses, which the library
// does not.
func ExampleKeyed_ByName() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lost := func(key string, err error) { fmt.Println("lost", key, err) }
		var locker interface { // of some library
			Lock(ctx context.Context, name string) error
			Unlock(ctx context.Context, name string) error
		} = client.Keyed("/certificates", locks.WithOnLost(lost)).ByName()
		if err := locker.Lock(ctx, "example.com"); err != nil {
			return err
		}
		fmt.Println("obtaining a certificate")
		if err := locker.Unlock(ctx, "example.com"); err != nil {
			return err
		}
		fmt.Println("not held:", errors.Is(locker.Unlock(ctx, "example.com"), locks.ErrNotHeld))
		return nil
	})
	// Output:
	// obtaining a certificate
	// not held: true
}
