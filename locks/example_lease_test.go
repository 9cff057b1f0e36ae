package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Work is done with the context of the lease, which ends when the lock is lost: here because the
// session has expired, as it does when the ensemble does not hear of a client for a session
// timeout.
func ExampleLease_Context() {
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
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Expire(server.Sessions()[0]); err != nil {
		fmt.Println(err)
		return
	}
	<-lease.Context().Done() // what works with it stops
	fmt.Println("valid:", lease.Valid(), "lost:", errors.Is(context.Cause(lease.Context()), locks.ErrLost))
	again, err := client.Mutex("/orders/42").Lock(ctx) // in the next session
	fmt.Println("again:", err == nil && again.Token() > lease.Token())
	// Output:
	// valid: false lost: true
	// again: true
}

// A holder that has promised to be done within 50 ms of being asked. This one does not listen,
// and the lock is given back over its head.
func ExampleWithGrace() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/orders/42", locks.WithGrace(50*time.Millisecond)).Lock(ctx)
		if err != nil {
			return err
		}
		if _, err := client.Revoke(ctx, "/orders/42"); err != nil {
			return err
		}
		<-lease.Context().Done()
		fmt.Println("revoked:", errors.Is(context.Cause(lease.Context()), locks.ErrRevoked))
		next, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		return next.Unlock(ctx)
	})
	// Output: revoked: true
}
