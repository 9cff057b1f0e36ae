package locks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// errFenced: a write came with a smaller token than one before it.
var errFenced = errors.New("written by a later holder")

// shelf is a resource that looks at fencing tokens. In a database it is a column, and a condition:
//
//	UPDATE orders SET state = $1, fence = $2 WHERE id = 42 AND fence <= $2
type shelf struct {
	mu    sync.Mutex
	fence locks.Token
	state string
}

// Write takes what is written under the greatest token seen so far, or a greater one.
func (s *shelf) Write(ctx context.Context, token locks.Token, state string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if token < s.fence {
		return errFenced
	}
	s.fence, s.state = token, state
	return nil
}

// pay uses a lock as it is meant to be used: the work runs with the context of the lease, and each
// write carries its token.
func pay(ctx context.Context, servers string, store *shelf) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, servers, locks.WithSessionTimeout(10*time.Second))
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx))

	return locks.Do(ctx, client.Mutex("/orders/42"), func(ctx context.Context, token locks.Token) error {
		return store.Write(ctx, token, "paid") // ctx ends when the lock is lost
	})
}

// A lock, a lease, and a store that is told the fencing token.
func Example_pay() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	var store shelf
	err = pay(ctx, server.Addr()+"/app", &store)
	fmt.Println(store.state, err)
	// Output: paid <nil>
}

// The first holder's write is on its way when it loses the lock: it was broken, or the process
// stood still for longer than a session timeout. The write arrives after the next holder's, and is
// refused.
func ExampleLease_Token() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		var store shelf
		first, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		queue, err := client.Queue(ctx, "/orders/42")
		if err != nil {
			return err
		}
		if err := client.Break(ctx, queue[0]); err != nil {
			return err
		}
		second, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("greater:", second.Token() > first.Token())
		fmt.Println("second:", store.Write(second.Context(), second.Token(), "shipped"))
		fmt.Println("first:", store.Write(ctx, first.Token(), "paid")) // without a look at its lease
		fmt.Println(store.state)
		return second.Unlock(ctx)
	})
	// Output:
	// greater: true
	// second: <nil>
	// first: written by a later holder
	// shipped
}
