package guides_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// till is a store that compares tokens.
type till struct{ fence locks.Token }

func (s *till) Pay(_ context.Context, id string, token locks.Token) error {
	if token < s.fence {
		return errors.New("an old token")
	}
	s.fence = token
	fmt.Println("paid", id)
	return nil
}

// ask has a handler answer one request.
func ask(ctx context.Context, handler http.HandlerFunc) {
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil))
	fmt.Println(w.Code)
}

// A handler that has Do lock, and one that bounds its wait alone.
func Example_pay() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		store, id := &till{}, "42"
		ask(ctx, func(w http.ResponseWriter, r *http.Request) {
			err := locks.Do(r.Context(), client.Mutex("/orders/"+id), func(ctx context.Context, token locks.Token) error {
				return store.Pay(ctx, id, token)
			})
			if err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		ask(ctx, func(w http.ResponseWriter, r *http.Request) {
			waiting, cancel := context.WithTimeout(r.Context(), 2*time.Second)
			defer cancel()
			lease, err := client.Mutex("/orders/" + id).Lock(waiting)
			if err == nil {
				defer lease.Release()
				err = store.Pay(lease.Context(), id, lease.Token())
				if !lease.Valid() {
					<-lease.Context().Done() // at once
					err = fmt.Errorf("%w: %w", context.Cause(lease.Context()), err)
				}
			}
			if err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		return nil
	})
	// Output:
	// paid 42
	// 200
	// paid 42
	// 200
}

// A job for an instant of its schedule, and what is logged of it.
func Example_nightly() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		log, at := log.New(io.Discard, "", 0), time.Now().Truncate(time.Minute)
		nightly := func(context.Context, locks.Token) error { return nil }
		once, err := locks.RunOnceFor(ctx, client, "/jobs/nightly", at, nightly, locks.WithStartDeadline(time.Hour))
		log.Printf("%s: %s", once.Outcome, once.Mark) // already ran: done at ..., for ..., by process 4711 on web2
		fmt.Println(once.Outcome == locks.OnceRan)
		return err
	})
	// Output: true
}

// A leader whose work takes the token, and one of a process that is told to end.
func Example_lead() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		election, address := client.Election("/scheduler"), "host-1:8080"
		reconcile := func(ctx context.Context, token locks.Token) error {
			fmt.Println("leads, with a token:", token > 0)
			return ctx.Err()
		}
		err := election.Run(ctx, address, func(ctx context.Context, term *locks.Leadership) error {
			return reconcile(ctx, term.Token())
		})
		return err
	})
	onServer(func(_ context.Context, client *locks.Client, _ *embedded.Server) error {
		election, pod := client.Election("/scheduler"), "pod-1"
		reconcile := func(context.Context, *locks.Leadership) error { fmt.Println("leads"); return nil }
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		err := election.Run(ctx, pod, reconcile) // returns when reconcile has returned, and the lead is resigned
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, client.Close(closing)) // ends the session: what is still held is free
		return err
	})
	// Output:
	// leads, with a token: true
	// leads
}

// A leader that says when it is ready.
func Example_proclaim() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		election, address := client.Election("/scheduler"), "host-1:8080"
		restore := func(context.Context) error { return nil }
		reconcile := func(ctx context.Context, _ locks.Token) error {
			leader, err := election.Leader(ctx)
			fmt.Println(leader.Value)
			return err
		}
		err := election.Run(ctx, address+" starts", func(ctx context.Context, term *locks.Leadership) error {
			if err := restore(ctx); err != nil {
				return err
			}
			if err := term.Proclaim(ctx, address); err != nil {
				return err
			}
			return reconcile(ctx, term.Token())
		})
		return err
	})
	// Output: host-1:8080
}

// A Lock that says whom it waits for.
func Example_waiting() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		lease, err := client.Mutex("/orders/42", locks.WithLabel("billing")).Lock(ctx)
		if err != nil {
			return err
		}
		read, write := io.Pipe()
		log := log.New(write, "", 0)
		orders := client.Mutex("/orders/42", locks.WithOnChange(func(c locks.Change) {
			if c.Kind == locks.Waiting {
				log.Printf("behind %q, process %d on %s", c.Behind.Label, c.Behind.PID, c.Behind.Host)
			}
		}))
		over := make(chan error, 1)
		go func() {
			second, err := orders.Lock(ctx)
			if err == nil {
				err = second.Unlock(ctx)
			}
			over <- err
		}()
		var label string
		_, err = fmt.Fscanf(read, "behind %q", &label)
		fmt.Println(label)
		_ = read.Close()
		return errors.Join(err, lease.Unlock(ctx), <-over)
	})
	// Output: billing
}

// A semaphore for one function.
func Example_permit() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		print := func(context.Context, locks.Token) error { fmt.Println("prints"); return nil }
		err := locks.Do(ctx, client.Semaphore("/printer", 3).Weight(1), print)
		return err
	})
	// Output: prints
}

// Locks by key, and a process that ends when it has lost one.
func Example_keyed() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		host, id := "web2", "2026/42"
		orders := client.Keyed("/orders", locks.WithLabel(host))
		lease, err := orders.Lock(ctx, id) // or TryLock, which does not wait
		if err != nil {
			return err
		}
		defer lease.Release()
		fmt.Println(lease.Path())
		names := client.Keyed("/certificates", locks.WithOnLost(func(key string, err error) {
			log.Fatalf("the lock of %s: %v", key, err)
		})).ByName()
		return errors.Join(names.Lock(ctx, "example.com"), names.Unlock(ctx, "example.com"))
	})
	// Output: /orders/2026%2F42
}

// A queue with kazoo's names.
func Example_kazoo() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		mutex := client.Mutex("/p", locks.WithNaming(messages.KazooNaming))
		return locks.Do(ctx, mutex, func(context.Context, locks.Token) error { fmt.Println("held"); return nil })
	})
	// Output: held
}

// A worker that is started again with the file and the key of the one before holds its lock.
func Example_reclaim() {
	onServer(func(ctx context.Context, _ *locks.Client, server *embedded.Server) error {
		folder, err := os.MkdirTemp("", "indexer")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		servers, file := server.Addr(), filepath.Join(folder, "session")
		opening, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		client, err := locks.Open(opening, servers, locks.WithSessionFile(file))
		if err != nil {
			return err
		}
		lease, err := client.Mutex("/index", locks.WithReclaim("indexer")).Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("held:", lease.Valid())
		return errors.Join(lease.Unlock(ctx), client.Close(ctx))
	})
	// Output: held: true
}

// An actor that exists once, and a grain that is served once.
func Example_once() {
	onServer(func(_ context.Context, client *locks.Client, _ *embedded.Server) error {
		session, system, active := client.Session(), client.System(), make(chan bool)
		newBilling := func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				if by, is := ctx.Message().(*actors.Activation); is {
					active <- by.Valid()
				}
			})
		}
		props := actor.PropsFromProducer(newBilling)
		pid := system.Root.Spawn(actors.NewSingleton(session, messages.Acquire{Path: "/singletons/billing"}, props))
		fmt.Println("active:", <-active)
		return system.Root.StopFuture(pid).Wait()
	})
	onServer(func(_ context.Context, client *locks.Client, _ *embedded.Server) error {
		session, newAccount := client.Session(), func() actor.Actor { return nil }
		props := actor.PropsFromProducer(newAccount, activation.Single(session, grain.Path("/grains")))
		kinds := cluster.WithKinds(cluster.NewKind("account", props))
		fmt.Println("kinds:", kinds != nil)
		return nil
	})
	// Output:
	// active: true
	// kinds: true
}

// Nodes with a remote, one of them with a session. It is compiled, and not run: these addresses are nobody's.
func Example_nodes() {
	ctx := context.Background()
	serve := func(with *locks.Client) error {
		system := actor.NewActorSystem()
		r := remote.NewRemote(system, remote.Configure("10.0.0.7", 8090, // as the other nodes reach it
			gateway.WithRecovery(slog.Default()))) // last: it bounds what other nodes can do to this one
		r.Start()
		defer r.Shutdown(true) // after client.Close

		_, err := gateway.Spawn(system, with.Session(), "locks") // only where there is a session
		return err
	}
	onOthers := func(system *actor.ActorSystem) (*locks.Client, error) {
		at := gateway.At(actor.NewPID("10.0.0.1:8090", "locks"), actor.NewPID("10.0.0.2:8090", "locks"))
		opening, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		client, err := gateway.Open(opening, system, at)
		return client, err
	}
	_, _ = serve, onOthers
}
