package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func ExampleClient_Election() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		election := client.Election("/billing/leader")
		_, err := election.Leader(ctx)
		fmt.Println("nobody leads:", errors.Is(err, locks.ErrNoLeader))
		term, err := election.Campaign(ctx, "10.0.0.7:8080")
		if err != nil {
			return err
		}
		leader, err := election.Leader(ctx)
		if err != nil {
			return err
		}
		fmt.Println(leader.Value, "leads, by our own lease:", leader.Token == term.Token())
		return term.Resign(ctx)
	})
	// Output:
	// nobody leads: true
	// 10.0.0.7:8080 leads, by our own lease: true
}

func ExampleElection_Observe() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		election := client.Election("/billing/leader")
		watching, stop := context.WithCancel(ctx)
		defer stop()
		told, err := election.Observe(watching)
		if err != nil {
			return err
		}
		fmt.Println("nobody yet:", (<-told).Token == 0)
		term, err := election.Campaign(ctx, "10.0.0.7:8080")
		if err != nil {
			return err
		}
		fmt.Println((<-told).Value)
		return term.Resign(ctx)
	})
	// Output:
	// nobody yet: true
	// 10.0.0.7:8080
}

// Each of two callers holds what the other waits for. The younger request gives up, and backs off.
func ExampleWithDeadlockDetection() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		a, err := client.Mutex("/a").Lock(ctx)
		if err != nil {
			return err
		}
		b, err := client.Mutex("/b").Lock(ctx)
		if err != nil {
			return err
		}
		detects := locks.WithDeadlockDetection("/", 20*time.Millisecond)
		over := make(chan error, 2)
		go func() { // who has /a wants /b
			_, err := client.Mutex("/b", detects).Lock(a.Context())
			over <- errors.Join(err, a.Unlock(ctx))
		}()
		go func() { // who has /b wants /a
			_, err := client.Mutex("/a", detects).Lock(b.Context())
			over <- errors.Join(err, b.Unlock(ctx))
		}()
		one, two := <-over, <-over
		fmt.Println("one gave up:", errors.Is(errors.Join(one, two), locks.ErrDeadlock))
		fmt.Println("the other got its lock:", one == nil || two == nil)
		return nil
	})
	// Output:
	// one gave up: true
	// the other got its lock: true
}

// Every waiter is woken by every change: the herd effect.
func ExampleWithWatchAll() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/classic", locks.WithWatchAll()).Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("held:", lease.Valid())
		return lease.Unlock(ctx)
	})
	// Output: held: true
}

// Locks that only their makers may touch: a credential, and lists of who may do what.
func ExampleWithAuth() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	owner, err := locks.Open(ctx, server.Addr()+"/team", locks.WithAuth("digest", []byte("team:secret")),
		locks.WithACL(zk.AuthACL(zk.PermAll)...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer owner.Close(ctx)
	lease, err := owner.Mutex("/jobs").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()

	stranger, err := locks.Open(ctx, server.Addr()+"/team")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stranger.Close(ctx)
	_, err = stranger.Mutex("/jobs").TryLock(ctx)
	fmt.Println("a stranger may not:", errors.Is(err, zkconn.ErrNoAuth))
	// Output: a stranger may not: true
}
