package guides_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A handler changes an order, alone.
func Example_handler() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		paid := 0 // has no mutex of its own
		pay := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mutex := client.Mutex("/orders/42")
			err := locks.Do(r.Context(), mutex, func(context.Context, locks.Token) error { paid++; return nil })
			if locks.MayPass(err) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				pay.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil))
			})
		}
		all.Wait()
		fmt.Println("paid", paid, "times")
		return nil
	})
	// Output: paid 10 times
}

// Three replicas wake up at the same time, and once more when the job is done. One of them runs it,
// once.
func Example_job() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		var all sync.WaitGroup
		var ran, left atomic.Int32
		nightly := func(context.Context, locks.Token) error { ran.Add(1); return nil }
		at := time.Now().Truncate(time.Hour) // what the tick is for
		for range 3 {
			all.Go(func() {
				for range 2 {
					once, err := locks.RunOnceFor(ctx, client, "/jobs/nightly", at, nightly)
					if err == nil && once.Outcome != locks.OnceRan {
						left.Add(1)
					}
				}
			})
		}
		all.Wait()
		fmt.Println("ran:", ran.Load(), "left it:", left.Load())
		return nil
	})
	// Output: ran: 1 left it: 5
}

// Two candidates. The first leads until its program ends, then the second.
func Example_leader() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		leads := make(chan string)
		run := func(ctx context.Context, name string) error {
			return client.Election("/scheduler").Run(ctx, name, func(ctx context.Context, term *locks.Leadership) error {
				leads <- term.Value()
				<-ctx.Done() // it works until then
				return nil
			})
		}
		first, stop := context.WithCancel(ctx)
		ended := make(chan error, 2)
		go func() { ended <- run(first, "first") }()
		fmt.Println(<-leads)
		second, stopSecond := context.WithCancel(ctx)
		go func() { ended <- run(second, "second") }()
		stop()
		fmt.Println(<-leads, errors.Is(<-ended, context.Canceled))
		stopSecond()
		<-ended
		return nil
	})
	// Output:
	// first
	// second true
}

// At most three of ten workers print at a time.
func Example_pool() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		var printing, most atomic.Int32
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				permit := client.Semaphore("/printer", 3).Weight(1)
				err := locks.Do(ctx, permit, func(context.Context, locks.Token) error {
					if now := printing.Add(1); now > 3 {
						most.Store(now)
					}
					printing.Add(-1)
					return nil
				})
				if err != nil {
					fmt.Println(err)
				}
			})
		}
		all.Wait()
		fmt.Println("too many:", most.Load())
		return nil
	})
	// Output: too many: 0
}

// A position in a stream, which is read and written only under the lock, each once.
func Example_position() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		return locks.Do(ctx, client.Mutex("/stream"), func(ctx context.Context, _ locks.Token) error {
			lease := locks.LeaseOf(ctx)
			first := locks.Create("/streams/orders/position", []byte("0"))
			first.Parents = true
			if _, err := lease.Txn(ctx, first); err != nil {
				return err
			}
			for range 3 {
				data, version, err := lease.Get(ctx, first.Path)
				if err != nil {
					return err
				}
				position, _ := strconv.Atoi(string(data))
				done, err := lease.Txn(ctx, locks.Set(first.Path, []byte(strconv.Itoa(position+1)), version))
				if err != nil {
					return err
				}
				fmt.Println(position, "->", position+1, "is version", done[0].Version)
			}
			return nil
		})
	})
	// Output:
	// 0 -> 1 is version 1
	// 1 -> 2 is version 2
	// 2 -> 3 is version 3
}
