package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// looksAfter is the time that a request waits before it looks for deadlocks.
const looksAfter = 2 * time.Second

// stands has an owner that stands still meanwhile ask for a lock.
func (c *crowd) stands(t *testing.T, client *locks.Client, want messages.Acquire) *owned {
	t.Helper()
	rec := actorstest.NewRecorder(client.System())
	t.Cleanup(rec.Close)
	root := client.System().Root
	lock := root.Spawn(actors.NewLock(client.Session(), want, actors.WithObserver(rec.PID())))
	return &owned{rec, lock, func(msg any) { root.Send(lock, msg) }}
}

// seemsADeadlock sets a scene: A has given /deadlock/x back, and its node is retained; it waits for
// /deadlock/y, which B holds. B asks for x and looks for deadlocks; A's session hears of nothing
// until kept is released.
func (c *crowd) seemsADeadlock(t *testing.T) (b *owned, kept *embedded.Injection, cleanUp func()) {
	t.Helper()
	const x, y = "/deadlock/x", "/deadlock/y"
	first := c.stands(t, c.theirs, messages.Acquire{Path: x, Caller: "A", Sticky: retainLong})
	first.reaches(t, stHeld)
	first.send(&messages.Release{})
	first.reaches(t, messages.StateReleased)
	holder := c.stands(t, c.ours, messages.Acquire{Path: y, Caller: "B"})
	holder.reaches(t, stHeld)
	a := c.stands(t, c.theirs, messages.Acquire{Path: y, Caller: "A"})
	a.reaches(t, stWatching)
	synctest.Wait()
	require.Len(t, c.childrenOf(t, x), 1, "the node is retained")
	kept = c.strike(t, embedded.Fault{Session: session(c.theirs), Action: embedded.HoldReplies})
	require.NoError(t, kept.Wait(patient(t))) // a heartbeat
	b = c.stands(t, c.ours, messages.Acquire{Path: x, Caller: "B", Deadlocks: messages.Detection{Root: "/deadlock", Every: looksAfter}})
	b.reaches(t, stWatching)
	return b, kept, func() {
		for _, o := range []*owned{b, holder, a} {
			if o == a {
				o.reaches(t, stHeld)
			}
			o.send(&messages.Release{})
			_, err := o.rec.Await(patient(t), messages.StateReleased)
			require.NoError(t, err, "it went %v", o.rec.States())
		}
		require.Empty(t, c.childrenOf(t, x))
		require.Empty(t, c.childrenOf(t, y))
	}
}

// seeming are scenes that look like a deadlock.
var seeming = []plot{
	{name: "retained-node", outcome: "the search looks a second time, when the node has gone: nobody gives up",
		play: func(t *testing.T, c *crowd) {
			b, kept, cleanUp := c.seemsADeadlock(t)
			time.Sleep(looksAfter + 100*time.Millisecond) // the first look is over
			require.Equal(t, stWatching, b.rec.States()[len(b.rec.States())-1])
			kept.Release()
			b.reaches(t, stHeld)
			cleanUp()
		}},
	{name: "deadlock", outcome: "the younger gives up when it has looked twice, and the other gets its lock",
		play: func(t *testing.T, c *crowd) {
			const x, y = "/deadlock/x", "/deadlock/y"
			one := c.stands(t, c.theirs, messages.Acquire{Path: x, Caller: "A"})
			one.reaches(t, stHeld)
			two := c.stands(t, c.ours, messages.Acquire{Path: y, Caller: "B"})
			two.reaches(t, stHeld)
			a := c.stands(t, c.theirs, messages.Acquire{Path: y, Caller: "A"})
			a.reaches(t, stWatching)
			began := time.Now()
			b := c.stands(t, c.ours, messages.Acquire{Path: x, Caller: "B", Deadlocks: messages.Detection{Root: "/deadlock", Every: looksAfter}})
			require.Equal(t, messages.ReasonDeadlock, b.reaches(t, messages.StateCancelled).Reason)
			require.Less(t, time.Since(began), looksAfter+time.Second)
			two.send(&messages.Release{})
			a.reaches(t, stHeld)
			for _, o := range []*owned{a, one} {
				o.send(&messages.Release{})
				o.reaches(t, messages.StateReleased)
			}
		}},
	{name: "passed-on-node", outcome: "the node names the holder before: the search looks a second time, when it names the present one",
		play: func(t *testing.T, c *crowd) {
			const x, y = "/deadlock/x", "/deadlock/y"
			first := c.stands(t, c.theirs, messages.Acquire{Path: x, Caller: "A", Cohort: many})
			first.reaches(t, stHeld)
			second := c.stands(t, c.theirs, messages.Acquire{Path: x, Caller: "D", Cohort: many})
			second.reaches(t, stWatching)
			holder := c.stands(t, c.ours, messages.Acquire{Path: y, Caller: "B"})
			holder.reaches(t, stHeld)
			first.send(&messages.Release{})
			second.reaches(t, stHeld)
			a := c.stands(t, c.theirs, messages.Acquire{Path: y, Caller: "A"})
			a.reaches(t, stWatching)
			b := c.stands(t, c.ours, messages.Acquire{Path: x, Caller: "B",
				Deadlocks: messages.Detection{Root: "/deadlock", Every: time.Millisecond}})
			b.reaches(t, stWatching)
			time.Sleep(looksAfter)
			require.Equal(t, stWatching, b.rec.States()[len(b.rec.States())-1])
			for _, o := range []*owned{second, b, holder, a} {
				o.reaches(t, stHeld)
				o.send(&messages.Release{})
				o.reaches(t, messages.StateReleased)
			}
		}},
	{name: "deadlock-with-a-cohort", outcome: "the younger gives up when it has looked twice, also where a node is passed on in another session",
		play: func(t *testing.T, c *crowd) {
			const x, y = "/deadlock/x", "/deadlock/y"
			one := c.stands(t, c.theirs, messages.Acquire{Path: x, Caller: "A", Cohort: many})
			one.reaches(t, stHeld)
			two := c.stands(t, c.ours, messages.Acquire{Path: y, Caller: "B"})
			two.reaches(t, stHeld)
			a := c.stands(t, c.theirs, messages.Acquire{Path: y, Caller: "A"})
			a.reaches(t, stWatching)
			began := time.Now()
			b := c.stands(t, c.ours, messages.Acquire{Path: x, Caller: "B", Deadlocks: messages.Detection{Root: "/deadlock", Every: looksAfter}})
			require.Equal(t, messages.ReasonDeadlock, b.reaches(t, messages.StateCancelled).Reason)
			require.Less(t, time.Since(began), looksAfter+2*time.Second)
			two.send(&messages.Release{})
			a.reaches(t, stHeld)
			for _, o := range []*owned{a, one} {
				o.send(&messages.Release{})
				o.reaches(t, messages.StateReleased)
			}
		}},
}

// TestSeemingDeadlocks: no request gives up for a circle that is no deadlock.
func TestSeemingDeadlocks(t *testing.T) { testPlots(t, seeming) }
