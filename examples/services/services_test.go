package services_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/examples/services"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// eachServer runs a test on an embedded server and on a real one, where that is installed.
func eachServer(t *testing.T, run func(t *testing.T, servers string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t).Addr()) })
	t.Run("standalone", func(t *testing.T) { run(t, rig.StartStandalone(t).Addr()) })
}

// TestCron: three replicas wake up for the same instant, one after the other or together, and the job is run once. It is
// over before the others look, so that no lock keeps them out.
func TestCron(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		var ran, here atomic.Int32
		job := func(context.Context) error {
			time.Sleep(20 * time.Millisecond)
			ran.Add(1)
			return nil
		}
		wake := func(at time.Time) {
			was, err := services.Cron(scene.Deadline(t), servers, at, job)
			if err != nil {
				t.Error(err)
			}
			if was {
				here.Add(1)
			}
		}
		tonight := time.Now().Truncate(time.Minute)
		var all sync.WaitGroup
		for n := range 3 { // the clocks of crontabs differ
			all.Go(func() {
				time.Sleep(time.Duration(n) * 100 * time.Millisecond)
				wake(tonight)
			})
		}
		all.Wait()
		for range 3 {
			wake(tonight)
		}
		require.Equal(t, []int32{1, 1}, []int32{ran.Load(), here.Load()})

		later := tonight.Add(time.Second)
		for range 3 {
			all.Go(func() { wake(later) })
		}
		all.Wait()
		require.Equal(t, []int32{2, 2}, []int32{ran.Load(), here.Load()})

		_, err := services.Cron(scene.Deadline(t), servers, tonight, job)
		require.ErrorIs(t, err, locks.ErrNotRun, "it has been run for a later one")
		was, err := services.Cron(scene.Deadline(t), servers, later.Add(time.Second), func(context.Context) error { return errWork })
		require.ErrorIs(t, err, errWork, "the next night")
		require.True(t, was)
	})
}

var errWork = errors.New("the work failed")

// TestPay: requests for one order are served one after the other, each with a greater token; what fails says how.
func TestPay(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		one, two := scene.Open(t, servers), scene.Open(t, servers)
		var paying atomic.Int32
		var tokens []int64
		pay := func(_ context.Context, id string, token int64) error {
			if paying.Add(1) != 1 {
				t.Error("two pay")
			}
			defer paying.Add(-1)
			switch id {
			case "bad":
				return errWork
			case "busy":
				return fmt.Errorf("%w: %w", locks.ErrAgain, errWork)
			}
			tokens = append(tokens, token)
			return nil
		}
		replicas := []http.Handler{services.Pay(one, pay), services.Pay(two, pay)}
		ask := func(replica int, method, path string) int {
			w := httptest.NewRecorder()
			replicas[replica].ServeHTTP(w, httptest.NewRequestWithContext(scene.Deadline(t), method, path, nil))
			return w.Code
		}
		var all sync.WaitGroup
		for n := range 10 {
			all.Go(func() {
				if code := ask(n%2, http.MethodPut, "/orders/42"); code != http.StatusNoContent {
					t.Errorf("status %d", code)
				}
			})
		}
		all.Wait()
		require.Len(t, tokens, 10)
		require.IsIncreasing(t, tokens)
		require.Equal(t, http.StatusInternalServerError, ask(0, http.MethodPut, "/orders/bad"))
		require.Equal(t, http.StatusServiceUnavailable, ask(0, http.MethodPut, "/orders/busy"))
		require.Equal(t, http.StatusOK, ask(0, http.MethodGet, "/ready"))
		require.NoError(t, one.Close(scene.Deadline(t)))
		require.Equal(t, http.StatusServiceUnavailable, ask(0, http.MethodGet, "/ready"))
	})
}

// TestLeader: one of three leads, with all tokens in order; when it ends the next one does.
func TestLeader(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		type term struct {
			replica int
			token   int64
		}
		terms := make(chan term)
		var stops []context.CancelFunc
		var ends []<-chan error
		var probes []http.HandlerFunc
		for n := range 3 {
			ctx, stop := context.WithCancel(scene.Deadline(t))
			alive, ended := services.Leader(ctx, scene.Open(t, servers), fmt.Sprint("replica ", n), func(ctx context.Context, token int64) error {
				terms <- term{n, token}
				<-ctx.Done()
				return nil
			})
			stops, ends, probes = append(stops, stop), append(ends, ended), append(probes, alive)
		}
		var last int64
		observer := scene.Open(t, servers)
		for candidates := 3; candidates > 0; candidates-- {
			var now term
			select {
			case now = <-terms:
			case err := <-ends[0]:
				t.Fatal("the first has ended: ", err)
			case err := <-ends[1]:
				t.Fatal("the second has ended: ", err)
			case err := <-ends[2]:
				t.Fatal("the third has ended: ", err)
			}
			require.Greater(t, now.token, last)
			last = now.token
			w := httptest.NewRecorder()
			probes[now.replica](w, nil)
			require.Equal(t, http.StatusOK, w.Code)
			select {
			case other := <-terms:
				t.Fatalf("%v leads beside %v", other, now)
			default:
			}
			scene.Eventually(t, func() bool { return len(scene.QueueOf(t, observer, "/scheduler")) == candidates }, "the others wait")
			stops[now.replica]()
			require.ErrorIs(t, <-ends[now.replica], context.Canceled)
			ends[now.replica] = nil // nothing else comes
		}
	})
}

// TestPool: two replicas with four workers each, and never more than three jobs at a time.
func TestPool(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		jobs := make(chan func(context.Context) error)
		late := scene.Deadline(t)
		var working, done atomic.Int32
		var all sync.WaitGroup
		for range 2 {
			client := scene.Open(t, servers)
			all.Go(func() {
				if err := services.Pool(scene.Deadline(t), client, 4, jobs); err != nil {
					t.Error(err)
				}
			})
		}
		for range 20 {
			job := func(context.Context) error {
				if n := working.Add(1); n > 3 {
					t.Errorf("%d work at a time", n)
				}
				time.Sleep(5 * time.Millisecond)
				working.Add(-1)
				done.Add(1)
				return nil
			}
			select {
			case jobs <- job:
			case <-late.Done():
				t.Fatal("nobody takes a job")
			}
		}
		close(jobs)
		all.Wait()
		require.Equal(t, int32(20), done.Load())

		failing := make(chan func(context.Context) error, 1)
		failing <- func(context.Context) error { return errWork }
		close(failing)
		require.ErrorIs(t, services.Pool(scene.Deadline(t), scene.Open(t, servers), 2, failing), errWork)
	})
}

// TestSupervisedWorker: it panics while it holds, twice. Its supervisor starts it again, and it
// gets the lock anew each time, before a waiter has it for ever; nothing is left in the end.
func TestSupervisedWorker(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		client := scene.Open(t, servers)
		var tokens []int64
		done := make(chan error, 1)
		props := actor.PropsFromProducer(func() actor.Actor {
			return &services.Worker{Locks: client.Session(), Path: "/work", Done: func(err error) { done <- err },
				Work: func(token int64) {
					tokens = append(tokens, token)
					if len(tokens) < 3 {
						panic(errWork)
					}
				}}
		})
		pid := client.System().Root.Spawn(props)
		require.NoError(t, <-done)
		require.Len(t, tokens, 3)
		require.IsIncreasing(t, tokens)
		scene.Eventually(t, func() bool {
			queue, err := client.Queue(scene.Deadline(t), "/work")
			return err == nil && len(queue) == 0
		}, "something is left")
		require.NoError(t, client.System().Root.StopFuture(pid).Wait())
	})
}

// TestWorkerIsRefused: it does no work, and says so.
func TestWorkerIsRefused(t *testing.T) {
	kit, fake, done := actorstest.Start(t), new(actorstest.Fake), make(chan error, 1)
	kit.System.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return &services.Worker{Locks: fake, Path: "/work", Work: func(int64) { t.Error("it works") }, Done: func(err error) { done <- err }}
	}))
	lock, err := fake.Await(t.Context(), "/work")
	require.NoError(t, err)
	lock.Tell(&messages.Failed{Reason: messages.ReasonNoAuth})
	require.ErrorContains(t, <-done, "not permitted by the ACL")
}
