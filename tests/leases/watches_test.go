package leases

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestNoWatchIsLeft: who follows very many paths, and then no more, leaves no watch at the servers and
// nothing here, while a waiter of the same session keeps its watch.
func TestNoWatchIsLeft(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		// locked are the watches of a holder (its own node, and its lock path for a while) and of a waiter.
		const paths, locked = 1500, 3
		ctx := patient.Deadline(t)
		awaitWatches(ctx, t, zk, 0, 0) // of other tests
		holds, client := zk.Open(t), zk.Open(t, locks.WithSessionTimeout(6*time.Second))
		held := patient.Locked(t, holds.Mutex("/held").Lock)
		waits := patient.Elsewhere(ctx, client.Mutex("/held").Lock)
		awaitWatches(ctx, t, zk, 2, locked)
		for i := range paths / 3 {
			_, err := client.Queue(ctx, fmt.Sprintf("/asked/%d", i))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, watches(ctx, t, zk), locked, "a question leaves none")

		queues := make(chan any, paths)
		root, session := client.System().Root, client.Session().PID()
		follower := root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *messages.Queue:
				select {
				case queues <- msg:
				default: // it was told twice, after a reconnect
				}
			case *messages.Follow, *messages.Unfollow:
				ctx.Request(session, msg)
			}
		}))
		defer root.Stop(follower)
		var first uint64
		for range 3 {
			for i := range paths {
				root.Send(follower, &messages.Follow{Path: fmt.Sprintf("/missing/%d", i)})
			}
			for range paths {
				patient.Receive(t, queues)
			}
			require.GreaterOrEqual(t, watches(ctx, t, zk), paths)
			for i := range paths {
				root.Send(follower, &messages.Unfollow{Path: fmt.Sprintf("/missing/%d", i)})
			}
			awaitWatches(ctx, t, zk, 1, locked)
			if first == 0 {
				first = heapObjects()
			}
		}
		patient.Eventually(t, func() bool { return heapObjects() < first+paths }, "an object less than each path left")

		patient.GiveBack(t, held)
		patient.GiveBack(t, patient.Receive(t, waits).Lease)
		require.Zero(t, client.Session().Counters().Polls)
	})
}

// TestNoWatchIsLeftOfKeptHolds: clients take locks from each other that they keep, or hold in cohorts, so they watch for each
// other; one is cut off, moves to another server, and loses its session.
func TestNoWatchIsLeftOfKeptHolds(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		ctx, proxy, timeout := patient.Deadline(t), zk.Proxy(t), locks.WithSessionTimeout(2*time.Second)
		clients := []*locks.Client{zk.Open(t, timeout), patient.Open(t, proxy.Addr()+zk.Root(), timeout)}
		kept, cohort := locks.WithSticky(50*time.Millisecond), locks.WithCohort(2)
		awaitWatches(ctx, t, zk, 0, 0) // of other tests
		for _, fault := range []func(){
			func() {},
			proxy.Cut,
			func() { proxy.SetTarget(zk.Members[len(zk.Members)-1].Addr()); proxy.Cut() },
			func() {
				id, password, _ := proxy.Session()
				require.NoError(t, rig.ExpireSession(ctx, zk.Members[0].Addr(), id, password))
			},
		} {
			var all sync.WaitGroup
			for path, options := range map[string][]locks.LockOption{"/kept": {kept}, "/cohort": {cohort}, "/both": {kept, cohort}} {
				for n := range 3 * len(clients) {
					all.Go(func() {
						for range 10 {
							if lease, err := clients[n%len(clients)].Mutex(path, options...).Lock(ctx); assert.NoError(t, err) {
								_ = lease.Unlock(ctx) // it may have been lost
							}
						}
					})
				}
			}
			fault()
			all.Wait()
		}
		awaitWatches(ctx, t, zk, 0, 0)
	})
}

// watches counts the watches at the servers.
func watches(ctx context.Context, t *testing.T, zk *stories.Servers) (all int) {
	for _, m := range zk.Members {
		n, err := m.Watches(ctx)
		require.NoError(t, err)
		all += n
	}
	return all
}

func awaitWatches(ctx context.Context, t *testing.T, zk *stories.Servers, least, most int) {
	t.Helper()
	patient.Eventually(t, func() bool { n := watches(ctx, t, zk); return least <= n && n <= most }, "%d to %d watches", least, most)
}

// heapObjects counts the objects in use, without garbage.
func heapObjects() uint64 {
	var m runtime.MemStats
	heap()
	runtime.ReadMemStats(&m)
	return m.HeapObjects
}
