package access

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestPollIsWarnedOf: a waiter that may not read the node before its own looks again after a session timeout. The first
// to find something is logged, with its lock path: by the client's logger, or the program's where the client has none. The
// tests of programs look for that line.
func TestPollIsWarnedOf(t *testing.T) {
	for name, c := range map[string]struct{ set, discards bool }{
		"the program's log":      {},
		"a logger":               {set: true},
		"a logger that discards": {set: true, discards: true},
	} {
		t.Run(name, func(t *testing.T) {
			log := &scene.Log{Handler: slog.DiscardHandler}
			opts := []locks.Option{credential(bob)}
			switch {
			case c.discards:
				opts = append(opts, locks.WithLogger(slog.New(slog.DiscardHandler)))
			case c.set:
				opts = append(opts, locks.WithLogger(slog.New(log)))
			}
			if !c.set || c.discards {
				before := slog.Default()
				slog.SetDefault(slog.New(log))
				t.Cleanup(func() { slog.SetDefault(before) })
			}
			synctest.Test(t, func(t *testing.T) {
				const times = 3
				server := scene.Virtual(t)
				owner := scene.ClientAt(t, server, server.Connect(), credential(alice), locks.WithACL(onlyMe...), locks.WithParentACL(everyone...))
				waiter := scene.ClientAt(t, server, server.Connect(), opts...)
				scene.RightRelists(t, waiter.Session(), times)
				told := func() int { return log.Count("found by looking again, a session timeout later") }
				for n := range times {
					first := scene.Locked(t, owner.Mutex("/closed").Lock)
					second := scene.Wait(t, waiter, scene.MutexAt("/closed"))
					synctest.Wait()
					if n == 0 {
						require.Zero(t, told())
					}
					scene.GiveBack(t, first)
					scene.GiveBack(t, second.Granted(t))
				}
				require.Equal(t, int64(times), waiter.Session().Counters().Polls)
				if c.discards {
					require.Zero(t, told())
					return
				}
				require.Equal(t, 1, told(), "once")
				require.Equal(t, 1, log.Count("what no event had told it: it may lack READ on the nodes before its own, or the "+
					"servers lose watches path=/closed node="), "what scene.SaidRelists looks for")
			})
		})
	}
}

// TestKilledHolderIsNotWarnedOf: a semaphore's contender is let in by the queue, and was killed before it said so. The
// one behind it finds out when it looks again. It lacks no permission, and no watch is lost.
func TestKilledHolderIsNotWarnedOf(t *testing.T) {
	log := &scene.Log{Handler: slog.DiscardHandler}
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		network := &scene.Network{Server: server}
		holder, dead := scene.Client(t, server), scene.ClientOver(t, server, network)
		waiter := scene.ClientAt(t, server, server.Connect(), locks.WithSessionTimeout(4*time.Second), locks.WithLogger(slog.New(log)))
		scene.RightRelists(t, waiter.Session(), 1)
		take := func(client *locks.Client) func(context.Context) (*locks.Lease, error) {
			return func(ctx context.Context) (*locks.Lease, error) { return client.Semaphore("/slots", 2).Acquire(ctx, 1) }
		}
		first, second := scene.Locked(t, take(holder)), scene.Locked(t, take(holder))
		killed, cancel := context.WithCancel(t.Context())
		gone := scene.Elsewhere(killed, take(dead))
		synctest.Wait()
		waiting := scene.Elsewhere(t.Context(), take(waiter))
		synctest.Wait()
		network.Be(scene.Down)
		scene.GiveBack(t, first, second)
		lease := scene.Receive(t, waiting)
		require.NoError(t, lease.Err)
		synctest.Wait() // the log is written by a queue
		require.Zero(t, log.Count("what no event had told it"))
		require.Equal(t, 1, log.Count("a semaphore's waiter found by looking again"))
		scene.GiveBack(t, lease.Lease)
		cancel()
		_ = scene.Receive(t, gone)
	})
}
