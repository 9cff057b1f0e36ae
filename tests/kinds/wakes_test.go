package kinds

import (
	"cmp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestWakes: how many waiters are woken by a release, of a long queue as of a short one: the next one, and in a semaphore the
// one that is the first waiter then; all readers behind a writer, once; and all that watch the whole lock path, a herd.
func TestWakes(t *testing.T) {
	const sessions = 4
	x, permit := scene.Exclusive, scene.Permits(1, 3)
	for name, c := range map[string]struct {
		holds, waits       scene.Kind
		holders, waiters   int
		releases, together int // who come in by one release; 0: all
		least, most        int // woken by a release; 0: all
	}{
		"mutex":              {x, x, 1, 100, 8, 1, 1, 1},
		"ten for permits":    {permit, permit, 3, 12, 8, 1, 1, 2},
		"more for permits":   {permit, permit, 3, 500, 8, 1, 1, 2},
		"readers":            {scene.Writer, scene.Reader, 1, 500, 1, 0, 0, 0},
		"watching the whole": {x, x.With(locks.WithWatchAll()), 1, 12, 4, 1, 3, 100},
	} {
		t.Run(name, func(t *testing.T) {
			scene.EachServerAlone(t, func(t *testing.T, zk *scene.Servers) {
				waiters := c.waiters
				if len(zk.Members) > 1 {
					waiters = min(waiters, 100) // more take long there
				}
				together, least, most := cmp.Or(c.together, waiters), cmp.Or(c.least, waiters), cmp.Or(c.most, waiters)
				var clients []*locks.Client
				var held, watching, woken atomic.Int64
				await := func(of *atomic.Int64, n int) {
					t.Helper()
					scene.Eventually(t, func() bool { return of.Load() >= int64(n) }, "not %d", n)
				}
				leases := make(chan *locks.Lease, c.holders+waiters)
				for i := range sessions {
					// As long a session as servers grant: so many waiters keep a slow machine busy.
					client := zk.Open(t, locks.WithSessionTimeout(time.Minute))
					clients = append(clients, client)
					observer := client.System().Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
						tr, is := ctx.Message().(*messages.Transition)
						if !is {
							return
						}
						if tr.From == messages.StateWatching && (tr.On == "TurnCame" || tr.On == "PredecessorGone" || tr.On == "Changed") {
							woken.Add(1)
						}
						switch tr.To {
						case messages.StateHeld:
							held.Add(1)
						case messages.StateWatching:
							watching.Add(1)
						}
					}))
					scene.Cleanup(t, func() { client.System().Root.Stop(observer) })
					if i == 0 {
						for range c.holders {
							leases <- c.holds.Holds(t, client, "/wakes")
						}
					}
					for range waiters / sessions {
						go func() {
							lease, err := c.waits(client, "/wakes", locks.WithObserver(observer)).Lock(scene.Deadline(t))
							if err == nil { // else the test is over
								leases <- lease
							}
						}()
					}
				}
				await(&watching, waiters)
				before := woken.Load()
				for n := range c.releases {
					scene.GiveBack(t, <-leases)
					await(&held, (n+1)*together)
					for _, client := range clients {
						scene.CatchUp(t, client)
					}
				}
				require.GreaterOrEqual(t, int(woken.Load()-before), least*c.releases)
				require.LessOrEqual(t, int(woken.Load()-before), most*c.releases)
			})
		})
	}
}
