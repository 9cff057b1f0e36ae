package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// A leader loop. It leads until ctx ends, through losses of the lead; here the work is done after
// one term.
func ExampleElection_Run() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		election := client.Election("/scheduler")
		return election.Run(ctx, "host-1:8080", func(ctx context.Context, term *locks.Leadership) error {
			fmt.Println(term.Value(), "leads:", election.IsLeader(), "healthy:", election.Health() == nil)
			return nil // or work until ctx ends
		})
	})
	// Output: host-1:8080 leads: true healthy: true
}

// The state of a job, which is written only while the lock is held. The first holder has lost the
// lock and does not know.
func ExampleLease_Txn() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		stale := func(ctx context.Context) error {
			queue, err := client.Queue(ctx, "/jobs/7")
			if err != nil {
				return err
			}
			return client.Break(ctx, queue[0])
		}
		err := locks.Do(ctx, client.Mutex("/jobs/7"), func(inside context.Context, _ locks.Token) error {
			lease := locks.LeaseOf(inside)
			if _, err := lease.Txn(ctx, locks.Create("/state", []byte("begun"))); err != nil {
				return err
			}
			if err := stale(ctx); err != nil {
				return err
			}
			_, err := lease.Txn(ctx, locks.Set("/state", []byte("stale"), locks.AnyVersion))
			fmt.Println("refused:", errors.Is(err, locks.ErrLost))
			return err
		})
		fmt.Println("cut short:", errors.Is(err, locks.ErrLost))
		return nil
	})
	// Output:
	// refused: true
	// cut short: true
}

// A hold that cannot be forgotten, and whose owner is told what happens to it.
func ExampleWithMaxHold() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		told := make(chan locks.Change, 1)
		mutex := client.Mutex("/report", locks.WithMaxHold(50*time.Millisecond),
			locks.WithOnChange(func(c locks.Change) { told <- c }))
		err := locks.Do(ctx, mutex, func(ctx context.Context, _ locks.Token) error {
			<-ctx.Done() // it hangs
			return nil
		})
		fmt.Println(errors.Is(err, locks.ErrMaxHold), (<-told).Kind)
		return nil
	})
	// Output: true lost
}

// Who is there: the workers of a pool find each other.
func ExampleClient_Group() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		group := client.Group("/workers")
		for _, address := range []string{"host-1:80", "host-2:80"} {
			if _, err := group.Join(ctx, address); err != nil { // until Leave, or the end of the process
				return err
			}
		}
		members, err := group.Members(ctx)
		for _, m := range members {
			fmt.Println(m.Data)
		}
		return err
	})
	// Output:
	// host-1:80
	// host-2:80
}
