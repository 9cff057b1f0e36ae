package steady

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// few is how often an operation is done; then it is done until it was done four times as often.
const few = 100

// TestSteady: done n times and 4 n times, an operation leaves the same behind.
func TestSteady(t *testing.T) {
	alone(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10*time.Second)
				do := r.prepare(w)
				var f [2]figures
				for i, times := range [...]int{few, 3 * few} {
					for range times {
						do()
						time.Sleep(time.Second) // for timers that would fire at the same time
					}
					f[i] = measure(t, w.server, w.system)
				}
				requireNoGrowth(t, f[0], f[1], 3*few)
			})
		})
	}
}

// alone has the test run on one processor: each has caches of the runtime's, which take up to some hundred objects.
func alone(t *testing.T) {
	was := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// world is what an operation needs.
type world struct {
	t       *testing.T
	server  *embedded.Server
	line    *scene.Network // of the client's session
	system  *actor.ActorSystem
	client  *locks.Client
	session *actors.Session // the client's
	timeout time.Duration
	within  context.Context
	told    chan any // what the observer is told
	observe *actor.PID
}

func newWorld(t *testing.T, timeout time.Duration) *world {
	t.Cleanup(func() { time.Sleep(time.Minute) }) // the actor system's throttle sleeps on for a while
	w := &world{t: t, timeout: timeout, told: make(chan any, 100), server: embedded.Run(t, embedded.WithoutNetwork(),
		embedded.WithTick(timeout/10), embedded.WithSessionTimeouts(timeout/5, timeout))}
	var cancel func()
	w.within, cancel = context.WithTimeout(context.WithoutCancel(t.Context()), 12*time.Hour)
	t.Cleanup(cancel)
	w.line = &scene.Network{Server: w.server}
	w.client = w.open(locks.WithDialer(w.line.Dial))
	w.session, w.system = w.client.Session(), w.client.System()
	w.observe = w.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, moved := ctx.Message().(*messages.Transition); !moved {
			select {
			case w.told <- ctx.Message():
			default: // nobody waits for it
			}
		}
	}))
	return w
}

// ctx ends when an operation hangs, and not with the test.
func (w *world) ctx() context.Context { return w.within }

func (w *world) open(opts ...locks.Option) *locks.Client {
	opts = append([]locks.Option{locks.WithDialer(w.server.DialContext), locks.WithSessionTimeout(w.timeout)}, opts...)
	if w.system != nil { // the first client makes one
		opts = append(opts, locks.WithActorSystem(w.system))
	}
	client, err := locks.Open(w.ctx(), w.server.Connect(), opts...)
	require.NoError(w.t, err)
	scene.CountRelists(w.t, client.Session())
	w.t.Cleanup(func() { scene.Closed(w.t, client.Close(w.ctx())) })
	return client
}

// overGateway opens a client over a gateway of the session.
func (w *world) overGateway() *locks.Client {
	client, err := gateway.Open(w.ctx(), w.system, gateway.At(w.gateway()))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, client.Close(w.ctx())) })
	return client
}

// gateway spawns the gateway of the session, or gives it.
func (w *world) gateway() *actor.PID {
	pid, err := gateway.Spawn(w.system, w.session, "gateway")
	if err != nil {
		return actor.NewPID(w.system.Address(), "gateway")
	}
	return pid
}

func (w *world) ok(err error) { require.NoError(w.t, err) }

// cycle locks and unlocks.
func (w *world) cycle(lock func(context.Context) (*locks.Lease, error)) {
	lease, err := lock(w.ctx())
	w.ok(err)
	w.ok(lease.Unlock(w.ctx()))
}

// held has another client hold a mutex for good.
func (w *world) held(path string, opts ...locks.LockOption) {
	_, err := w.open().Mutex(path, opts...).Lock(w.ctx())
	w.ok(err)
}

// briefly gives a context that ends soon.
func (w *world) briefly(do func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(w.ctx(), time.Second)
	defer cancel()
	do(ctx)
}

// spawn spawns an actor that acquires, and releases once it holds; it waits for its end.
func (w *world) spawn(props *actor.Props) {
	pid := w.system.Root.Spawn(props)
	hear[*messages.Held](w)
	w.system.Root.Send(pid, &messages.Release{})
	hear[*messages.Released](w)
}

// hear waits until the observer is told a notice.
func hear[Notice any](w *world) {
	w.t.Helper()
	for {
		select {
		case told := <-w.told:
			if _, is := told.(Notice); is {
				return
			}
		case <-w.ctx().Done():
			w.t.Fatal("the observer is told nothing")
		}
	}
}

// stopped stops an actor, and waits for its end.
func (w *world) stopped(pid *actor.PID) { w.ok(w.system.Root.StopFuture(pid).Wait()) }

// config is the configuration of a session of the world.
func (w *world) config() zkconn.Config {
	cfg, err := zkconn.NewConfig(w.server.Connect(), zkconn.WithSessionTimeout(w.timeout), zkconn.WithDialer(w.server.DialContext))
	w.ok(err)
	return cfg
}
