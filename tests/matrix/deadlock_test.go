package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
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

// seeming are scenes that look like a deadlock.
var seeming = []plot{
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
}

// TestSeemingDeadlocks: no request gives up for a circle that is no deadlock.
func TestSeemingDeadlocks(t *testing.T) { testPlots(t, seeming) }
