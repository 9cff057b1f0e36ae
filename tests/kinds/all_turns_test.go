package kinds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestEveryPairHasItsTurnsAfterFaults: callers of All share four locks. Sessions end and contenders'
// nodes are deleted for a while. After that each pair has as many of the turns as before. How many
// follows from the pairs alone, because a caller holds its first lock while it waits for the second:
// callers of locks 2 and 3 have thirteen times as many as callers of lock 0.
func TestEveryPairHasItsTurnsAfterFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pairs, turns = 16, 1500
		server := embedded.Run(t, embedded.WithoutNetwork())
		operator := scene.Client(t, server)
		var clients []*locks.Client
		for range 4 {
			clients = append(clients, scene.Client(t, server))
		}
		path := func(n int) string { return fmt.Sprintf("/all/%d", n) }
		ctx, stop := context.WithCancel(t.Context())
		had := make(chan int)
		var callers sync.WaitGroup
		for i := range pairs {
			first, second := i%4, (i+1+i/4%3)%4
			client := clients[i/4]
			callers.Go(func() {
				for ctx.Err() == nil {
					leases, err := locks.All(ctx, client.Mutex(path(first)), client.Mutex(path(second)))
					if err != nil { // it has lost one
						continue
					}
					select {
					case had <- i:
						time.Sleep(10 * time.Millisecond)
					case <-ctx.Done():
					}
					_ = leases.Unlock(ctx)
				}
			})
		}
		shares := func(fault func(turn int)) (of [pairs]int) {
			for turn := range turns {
				select {
				case i := <-had:
					of[i]++
				case <-time.After(time.Minute):
					require.Fail(t, "nobody has a turn")
				}
				fault(turn)
			}
			return of
		}
		none := func(int) {}

		before := shares(none)
		random := rand.New(rand.NewPCG(1, 1))
		shares(func(turn int) {
			if turn%10 == 0 {
				if queue, err := operator.Queue(ctx, path(random.IntN(4))); err == nil && len(queue) > 0 {
					_ = operator.Break(ctx, queue[random.IntN(len(queue))]) // unless it has gone
				}
			}
			if turn%50 == 0 {
				_ = server.Expire(clients[random.IntN(len(clients))].Session().ID()) // unless it has no session yet
			}
		})
		after := shares(none)
		for i := range pairs {
			require.Positive(t, before[i])
			require.InEpsilon(t, before[i], after[i], 0.5, "pair %d: before %v, after %v", i, before, after)
		}
		t.Logf("before %v, after %v", before, after)
		stop()
		callers.Wait()
	})
}
