package leases

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestNoWatchIsLeft: who follows very many paths, and then no more, leaves no watch at the servers and
// nothing here, while a waiter of the same session keeps its watch.
func TestNoWatchIsLeft(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		// locked are the watches of a holder (its own node, and its lock path for a while) and of a waiter.
		const paths, locked = 1500, 3
		ctx := patient.Deadline(t)
		now := func() (all int) {
			for _, m := range zk.Members {
				n, err := m.Watches(ctx)
				require.NoError(t, err)
				all += n
			}
			return all
		}
		watches := func(least, most int) {
			t.Helper()
			patient.Eventually(t, func() bool { n := now(); return least <= n && n <= most }, "%d to %d watches", least, most)
		}
		watches(0, 0) // of other tests
		holds, client := zk.Open(t), zk.Open(t, locks.WithSessionTimeout(6*time.Second))
		held := patient.Locked(t, holds.Mutex("/held").Lock)
		waits := patient.Elsewhere(ctx, client.Mutex("/held").Lock)
		watches(2, locked)
		for i := range paths / 3 {
			_, err := client.Queue(ctx, fmt.Sprintf("/asked/%d", i))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, now(), locked, "a question leaves none")

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
			require.GreaterOrEqual(t, now(), paths)
			for i := range paths {
				root.Send(follower, &messages.Unfollow{Path: fmt.Sprintf("/missing/%d", i)})
			}
			watches(1, locked)
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

// heapObjects counts the objects in use, without garbage.
func heapObjects() uint64 {
	var m runtime.MemStats
	heap()
	runtime.ReadMemStats(&m)
	return m.HeapObjects
}
