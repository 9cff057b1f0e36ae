package guides_test

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
func onServer(run func(ctx context.Context, client *locks.Client, server *embedded.Server) error) {
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
	if err := run(ctx, client, server); err != nil {
		fmt.Println(err)
	}
}

// Fencing: a write is under way when its holder's session expires. The next holder has written
// before it arrives, and the resource refuses it.
func Example_fencing() {
	onServer(func(ctx context.Context, client *locks.Client, server *embedded.Server) error {
		var fence messages.Token
		arrives := func(who string, token messages.Token) { // at the resource
			if token < fence {
				fmt.Println(who, "refused")
				return
			}
			fence = token
			fmt.Println(who, "written")
		}
		first, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		late := first.Token() // is sent, and takes its time
		if err := server.Expire(server.Sessions()[0]); err != nil {
			return err
		}
		<-first.Context().Done()
		second, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		arrives("second:", second.Token())
		arrives("first:", late)
		return second.Unlock(ctx)
	})
	// Output:
	// second: written
	// first: refused
}

// Moving: the old lock, and within it the new one, while some programs know only the old one. Here
// the old one is a mutex as well; it could be any other lock.
func Example_moving() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		old, err := client.Mutex("/old").Lock(ctx)
		if err != nil {
			return err
		}
		lease, err := client.Mutex("/new").Lock(old.Context())
		if err != nil {
			return err
		}
		fmt.Println("both:", old.Valid() && lease.Valid())
		return errors.Join(lease.Unlock(ctx), old.Unlock(ctx)) // the other way round
	})
	// Output: both: true
}

// Sticky: the node stays, looks like a holder to people, and goes for one who comes from elsewhere.
func Example_sticky() {
	onServer(func(ctx context.Context, client *locks.Client, server *embedded.Server) error {
		sticky := client.Mutex("/orders/42", locks.WithSticky(time.Minute))
		var node string
		for range 3 {
			lease, err := sticky.Lock(ctx)
			if err != nil {
				return err
			}
			fmt.Println("the same node:", lease.Node() == node)
			node = lease.Node()
			if err := lease.Unlock(ctx); err != nil {
				return err
			}
		}
		other, err := locks.Open(ctx, server.Addr(), locks.WithSessionTimeout(30*time.Second))
		if err != nil {
			return err
		}
		defer other.Close(ctx)
		queue, err := other.Queue(ctx, "/orders/42")
		if err != nil {
			return err
		}
		fmt.Println("looks held:", len(queue) == 1 && queue[0].Holds)
		lease, err := other.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("locked elsewhere")
		return lease.Unlock(ctx)
	})
	// Output:
	// the same node: false
	// the same node: true
	// the same node: true
	// looks held: true
	// locked elsewhere
}

// Stuck: look, ask, break. This holder does not listen.
func Example_stuck() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		if _, err := client.Mutex("/orders/42", locks.WithLabel("nightly run")).Lock(ctx); err != nil {
			return err
		}
		queue, err := client.Queue(ctx, "/orders/42")
		if err != nil {
			return err
		}
		for _, c := range queue {
			fmt.Println(c.Label, "holds:", c.Holds, "waits for:", len(c.WaitsFor))
		}
		asked, err := client.Revoke(ctx, "/orders/42")
		fmt.Println("asked:", len(asked), err)
		if err := client.Break(ctx, queue[0]); err != nil { // after a while, and when its process cannot be stopped
			return err
		}
		lease, err := client.Mutex("/orders/42").Lock(ctx)
		if err != nil {
			return err
		}
		return lease.Unlock(ctx)
	})
	// Output:
	// nightly run holds: true waits for: 0
	// asked: 1 <nil>
}
