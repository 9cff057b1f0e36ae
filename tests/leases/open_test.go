package leases

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// timeout is the session timeout of clients in a bubble.
const timeout = 10 * time.Second

// TestOpenWarnsOfServers: a program that opens a client without a deadline, and has a host wrong, stands still. It is told
// once, after a session timeout, by the log that there is, which names the servers and the cause. Where there is a session
// in time nothing is said, however long the client lives.
func TestOpenWarnsOfServers(t *testing.T) {
	noHost := locks.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no such host") })
	log := &scene.Log{Handler: slog.DiscardHandler}
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	const said = "no session yet: no server can be reached server=zk.exmaple.org:2181 error=dial zk.exmaple.org:2181: no such host"
	for name, c := range map[string]struct {
		program, own *slog.Logger
		warnings     int
	}{
		"the program's log":      {program: slog.New(log), warnings: 1},
		"a logger":               {program: before, own: slog.New(log), warnings: 1},
		"a logger that discards": {program: slog.New(log), own: slog.New(slog.DiscardHandler)},
	} {
		slog.SetDefault(c.program)
		opts, had := []locks.Option{noHost, locks.WithSessionTimeout(timeout)}, log.Count(said)
		if c.own != nil {
			opts = append(opts, locks.WithLogger(c.own))
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := locks.Open(ctx, "zk.exmaple.org:2181", opts...)
				ended <- err
			}()
			time.Sleep(timeout - time.Second)
			require.Equal(t, had, log.Count("no session yet"), name)
			time.Sleep(5 * time.Minute)
			require.Equal(t, had+c.warnings, log.Count(said), name)
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			time.Sleep(time.Minute)
		})
	}
	slog.SetDefault(before)
	had := log.Count("no session yet")
	synctest.Test(t, func(t *testing.T) {
		scene.Client(t, scene.Virtual(t), locks.WithLogger(slog.New(log)))
		time.Sleep(time.Hour)
	})
	require.Equal(t, had, log.Count("no session yet"))
}

// TestReadyFallsOnce: a server stops, as with SIGSTOP, at each of many moments. The client becomes unready once, no
// later than a fifth of its session timeout after the first request that has no answer, and before its lease is over.
// It stays so until a server answers, through the loss of the connection and of the session.
func TestReadyFallsOnce(t *testing.T) {
	for _, c := range []struct {
		holds bool
		opts  []locks.Option
		every time.Duration // between two requests of a client
	}{
		{true, nil, timeout / 6}, {false, nil, timeout / 5}, {false, []locks.Option{locks.WithoutIdleSyncs()}, timeout / 3},
	} {
		for at := range 10 {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server, c.opts...)
				valid := func() bool { return true }
				if c.holds {
					valid = scene.Locked(t, client.Mutex("/ready").Lock).Valid
				}
				time.Sleep(time.Minute + time.Duration(at)*timeout/20)
				require.NoError(t, client.Ready())

				stopped := time.Now()
				server.Leader().Pause()
				var fell time.Duration
				for since := time.Duration(0); since < 3*timeout; since = time.Since(stopped) {
					ready := client.Ready()
					switch {
					case fell != 0:
						require.Error(t, ready, "ready again after %v, unready since %v", since, fell)
					case ready != nil:
						fell = since
						require.ErrorContains(t, ready, "no server answers for ")
						require.NotContains(t, ready.Error(), "\n")
					default:
						require.True(t, valid(), "ready after %v, with a lease that is over", since)
					}
					time.Sleep(50 * time.Millisecond)
				}
				require.GreaterOrEqual(t, fell, timeout/5)
				require.LessOrEqual(t, fell, timeout/5+c.every+200*time.Millisecond)
				server.Leader().Resume()
				time.Sleep(timeout)
				require.NoError(t, client.Ready())
			})
		}
	}
}

// TestLocksWithoutIdleSyncs: a client that sends no syncs while it is idle begins a session for the lock after a pause. It
// does not wait for that, however often it happens, and keeps the lock.
func TestLocksWithoutIdleSyncs(t *testing.T) {
	for _, pause := range []float64{0.2, 0.6, 0.8, 1.5, 3} {
		synctest.Test(t, func(t *testing.T) {
			client := scene.Client(t, scene.Virtual(t, embedded.WithTick(timeout/5)), locks.WithoutIdleSyncs())
			for range 8 {
				time.Sleep(time.Duration(pause * float64(timeout)))
				asked := time.Now()
				lease := scene.Locked(t, client.Mutex("/idle").Lock)
				require.Less(t, time.Since(asked), timeout/20, "after a pause of %v T", pause)
				time.Sleep(timeout)
				require.True(t, lease.Valid(), "after a pause of %v T", pause)
				scene.GiveBack(t, lease)
			}
		})
	}
}

// TestCallersActorSystem: a client in an actor system of the caller's stops what it started there, and nothing else.
func TestCallersActorSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := scene.System(t)
		mine := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		running := func() (n int) {
			for _, part := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
				n += part.Count()
			}
			return n
		}
		before := running()
		client := scene.Client(t, scene.Virtual(t), locks.WithActorSystem(system))
		scene.Cycle(t, client.Mutex("/system"))
		require.NoError(t, client.Close(t.Context()))
		synctest.Wait()
		require.Equal(t, before, running())
		require.NoError(t, system.Root.StopFuture(mine).Wait())
	})
}

// TestSessionTimeoutBelowTheServersLeast: servers grant their least, and all is as ever.
func TestSessionTimeoutBelowTheServersLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithSessionTimeout(time.Millisecond))
		require.Equal(t, 2*time.Second, client.State().Timeout, "two ticks")
		scene.Cycle(t, client.Mutex("/short"))
	})
}

// TestLockAfterAPauseTakesOneRoundTrip: an idle client keeps the evidence for its next grant. The lock takes one
// transaction, and so does giving it back, also after a minute of nothing.
func TestLockAfterAPauseTakesOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []embedded.Op
		take := func() (all []embedded.Op) {
			mu.Lock()
			defer mu.Unlock()
			all, seen = seen, nil
			return all
		}
		server := scene.Virtual(t, embedded.WithReplicas(3), embedded.WithReapInterval(24*time.Hour),
			embedded.WithHook(func(r embedded.Request) embedded.Action {
				mu.Lock()
				defer mu.Unlock()
				if r.Op != embedded.OpPing {
					seen = append(seen, r.Op)
				}
				return embedded.Pass
			}))
		mutex := scene.ClientAt(t, server, server.Replica(2).Addr()).Mutex("/idle")
		scene.GiveBack(t, scene.Locked(t, mutex.Lock)) // it finds out about the lock path
		synctest.Wait()                                // the holder's heartbeat may come behind the delete
		take()
		// It creates and reads the queue behind that, it deletes, and the holder's heartbeat may come, and a look at its node.
		const most = 5

		for _, pause := range []time.Duration{time.Minute, 61 * time.Second, 63 * time.Second, 10 * time.Minute} {
			time.Sleep(pause)
			idle := slices.DeleteFunc(take(), func(op embedded.Op) bool { return op == embedded.OpSync })
			require.Subset(t, []embedded.Op{embedded.OpRemoveWatches}, idle, "once, of the lock path")
			require.LessOrEqual(t, len(idle), 1)
			lease := scene.Locked(t, mutex.Lock)
			require.True(t, lease.Valid())
			scene.GiveBack(t, lease)
			synctest.Wait()
			all := take()
			require.LessOrEqual(t, len(all), most, "%v", all)
			require.Equal(t, embedded.OpCreate, all[0])
		}
	})
}
