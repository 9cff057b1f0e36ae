package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// often is how long a request waits before it looks for deadlocks.
const often = 10 * time.Millisecond

// caller acquires a lock for somebody, by a lock actor.
func (s *stage) caller(t *testing.T, who, path string, more ...func(*messages.Acquire)) *request {
	t.Helper()
	want := messages.Acquire{Path: path, Caller: who, Owner: who}
	for _, change := range more {
		change(&want)
	}
	return s.spawnFor(t, want)
}

func permits(total, n int) func(*messages.Acquire) {
	return func(want *messages.Acquire) { want.Mode, want.Permits, want.Weight = messages.Semaphore, total, n }
}

func detecting(want *messages.Acquire) {
	want.Deadlocks = messages.Detection{Root: "/", Every: often}
}

func inMode(mode messages.Mode) func(*messages.Acquire) {
	return func(want *messages.Acquire) { want.Mode = mode }
}

// waits waits until a request waits in its queue.
func (r *request) waits(t *testing.T) *request {
	t.Helper()
	await(t, r.rec, messages.StateWatching)
	return r
}

func (r *request) holds(t *testing.T) *request {
	t.Helper()
	r.hold(t)
	return r
}

// deadlocks looks for deadlocks, and gives them in words.
func deadlocks(t *testing.T, client *locks.Client, root string) (words []string) {
	t.Helper()
	found, err := client.Deadlocks(deadline(t), root)
	require.NoError(t, err)
	for _, d := range found {
		words = append(words, d.String())
	}
	return words
}

// TestDeadlocksAreFound: on demand, across locks and sessions, and told in words.
func TestDeadlocksAreFound(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		looker := open(t, at.Connect())
		one, two, three := newStage(t, at.Connect()), newStage(t, at.Connect()), newStage(t, at.Connect())
		t.Run("two", func(t *testing.T) {
			ax := one.caller(t, "A", "/two/x").holds(t)
			two.caller(t, "B", "/two/y").holds(t)
			one.caller(t, "A", "/two/y").waits(t)
			require.Empty(t, deadlocks(t, looker, "/two"), "B can go on")
			three.caller(t, "C", "/two/x").waits(t)
			two.caller(t, "B", "/two/x").waits(t)
			want := []string{"A holds /two/x and waits for /two/y; B holds /two/y and waits for /two/x"}
			require.Equal(t, want, deadlocks(t, looker, "/two"))
			require.Equal(t, want, deadlocks(t, looker, "/"))
			require.Empty(t, deadlocks(t, looker, "/two/x"), "half of it shows no circle")
			ax.send(&messages.Release{})
			ax.finish(t)
			require.Empty(t, deadlocks(t, looker, "/two"))
		})
		t.Run("three", func(t *testing.T) {
			one.caller(t, "A", "/three/x").holds(t)
			two.caller(t, "B", "/three/y").holds(t)
			three.caller(t, "C", "/three/z").holds(t)
			one.caller(t, "A", "/three/y").waits(t)
			two.caller(t, "B", "/three/z").waits(t)
			three.caller(t, "C", "/three/x").waits(t)
			require.Equal(t, []string{"A holds /three/x and waits for /three/y; B holds /three/y and waits for /three/z; " +
				"C holds /three/z and waits for /three/x"}, deadlocks(t, looker, "/three"))
		})
		t.Run("itself", func(t *testing.T) {
			one.caller(t, "A", "/self").holds(t)
			two.caller(t, "A", "/self").waits(t)
			require.Equal(t, []string{"A holds /self and waits for /self"}, deadlocks(t, looker, "/self"))
		})
		t.Run("readers", func(t *testing.T) {
			one.caller(t, "A", "/rw/x", inMode(messages.Read)).holds(t)
			two.caller(t, "B", "/rw/x", inMode(messages.Read)).holds(t)
			three.caller(t, "C", "/rw/y").holds(t)
			three.caller(t, "C", "/rw/x", inMode(messages.Write)).waits(t)
			require.Empty(t, deadlocks(t, looker, "/rw"))
			one.caller(t, "A", "/rw/y").waits(t)
			require.Equal(t, []string{"C holds /rw/y and waits for /rw/x; A holds /rw/x and waits for /rw/y"},
				deadlocks(t, looker, "/rw"), "the other reader may go, and it does not help")
		})
	})
}

// TestSemaphoreIsDeadlockedOnlyWhenTooManyAre: as long as another holder may give back what is needed, nobody is stuck.
func TestSemaphoreIsDeadlockedOnlyWhenTooManyAre(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		looker := open(t, at.Connect())
		one, two, three := newStage(t, at.Connect()), newStage(t, at.Connect()), newStage(t, at.Connect())
		one.caller(t, "A", "/sem", permits(2, 1)).holds(t)
		c := three.caller(t, "C", "/sem", permits(2, 1)).holds(t)
		two.caller(t, "B", "/lock").holds(t)
		b := two.caller(t, "B", "/sem", permits(2, 1)).waits(t)
		one.caller(t, "A", "/lock").waits(t)
		require.Empty(t, deadlocks(t, looker, "/"))

		ofC := three.caller(t, "C", "/lock").waits(t)
		require.Equal(t, []string{
			"B holds /lock and waits for /sem; A holds /sem and waits for /lock",
			"B holds /lock and waits for /sem; C holds /sem and waits for /lock",
		}, deadlocks(t, looker, "/"))

		ofC.send(&messages.Cancel{})
		ofC.finish(t)
		require.Empty(t, deadlocks(t, looker, "/"))
		c.send(&messages.Release{})
		b.hold(t)
	})
}

// TestDeadlockFollowsTheContextOfALease: who locks within a lease stands still for it.
func TestDeadlockFollowsTheContextOfALease(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := open(t, at.Connect()), open(t, at.Connect())
		x, err := one.Mutex("/x").Lock(deadline(t))
		require.NoError(t, err)
		y, err := two.Mutex("/y").Lock(deadline(t))
		require.NoError(t, err)
		forY, forX := lockWithin(t, one, x, "/y"), lockWithin(t, two, y, "/x")
		found, err := one.Deadlocks(deadline(t), "/")
		require.NoError(t, err)
		require.Len(t, found, 1)
		var held, wanted []string
		for _, m := range found[0].Members {
			held, wanted = append(held, m.Keeps.Path), append(wanted, m.Waits.Path)
			require.NotEmpty(t, m.Who)
			require.Equal(t, m.Keeps.Who, m.Waits.Who)
		}
		require.Equal(t, []string{"/x", "/y"}, held)
		require.Equal(t, []string{"/y", "/x"}, wanted)

		giveBack(t, x) // and with it goes what was asked for within it
		require.ErrorIs(t, receive(t, forY).err, locks.ErrReleased)
		a := receive(t, forX)
		require.NoError(t, a.err)
		giveBack(t, a.lease, y)
	})
}

// lockWithin locks within a lease, and returns when that waits.
func lockWithin(t *testing.T, client *locks.Client, lease *locks.Lease, path string, opts ...locks.LockOption) <-chan answer {
	t.Helper()
	rec := recorder(t, client)
	got := elsewhere(lease.Context(), client.Mutex(path, append(opts, observedBy(rec))...).Lock)
	await(t, rec, messages.StateWatching)
	return got
}
