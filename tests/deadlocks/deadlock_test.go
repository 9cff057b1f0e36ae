package deadlocks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// often is the time that a request waits before it looks for deadlocks.
const often = 10 * time.Millisecond

// caller acquires a lock for somebody, by a lock actor.
func caller(t *testing.T, s *scene.Stage, who, path string, more ...func(*messages.Acquire)) *scene.Request {
	t.Helper()
	want := messages.Acquire{Path: path, Caller: who, Owner: who}
	for _, change := range more {
		change(&want)
	}
	return s.SpawnFor(t, want)
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

// deadlocks looks for deadlocks, and gives them in words.
func deadlocks(t *testing.T, client *locks.Client, root string) (words []string) {
	t.Helper()
	found, err := client.Deadlocks(scene.Deadline(t), root)
	require.NoError(t, err)
	for _, d := range found {
		words = append(words, d.String())
	}
	return words
}

// TestDeadlocksAreFound: on demand, across locks and sessions, and told in words.
func TestDeadlocksAreFound(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		looker := at.Open(t)
		one, two, three := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect())
		t.Run("two", func(t *testing.T) {
			ax := caller(t, one, "A", "/two/x").Holds(t)
			caller(t, two, "B", "/two/y").Holds(t)
			caller(t, one, "A", "/two/y").Waits(t)
			require.Empty(t, deadlocks(t, looker, "/two"), "B can go on")
			caller(t, three, "C", "/two/x").Waits(t)
			caller(t, two, "B", "/two/x").Waits(t)
			want := []string{"A holds /two/x and waits for /two/y; B holds /two/y and waits for /two/x"}
			require.Equal(t, want, deadlocks(t, looker, "/two"))
			require.Equal(t, want, deadlocks(t, looker, "/"))
			require.Empty(t, deadlocks(t, looker, "/two/x"), "half of it shows no circle")
			ax.Send(&messages.Release{})
			ax.Finish(t)
			require.Empty(t, deadlocks(t, looker, "/two"))
		})
		t.Run("three", func(t *testing.T) {
			caller(t, one, "A", "/three/x").Holds(t)
			caller(t, two, "B", "/three/y").Holds(t)
			caller(t, three, "C", "/three/z").Holds(t)
			caller(t, one, "A", "/three/y").Waits(t)
			caller(t, two, "B", "/three/z").Waits(t)
			caller(t, three, "C", "/three/x").Waits(t)
			require.Equal(t, []string{"A holds /three/x and waits for /three/y; B holds /three/y and waits for /three/z; " +
				"C holds /three/z and waits for /three/x"}, deadlocks(t, looker, "/three"))
		})
		t.Run("itself", func(t *testing.T) {
			caller(t, one, "A", "/self").Holds(t)
			caller(t, two, "A", "/self").Waits(t)
			require.Equal(t, []string{"A holds /self and waits for /self"}, deadlocks(t, looker, "/self"))
		})
		t.Run("readers", func(t *testing.T) {
			caller(t, one, "A", "/rw/x", inMode(messages.Read)).Holds(t)
			caller(t, two, "B", "/rw/x", inMode(messages.Read)).Holds(t)
			caller(t, three, "C", "/rw/y").Holds(t)
			caller(t, three, "C", "/rw/x", inMode(messages.Write)).Waits(t)
			require.Empty(t, deadlocks(t, looker, "/rw"))
			caller(t, one, "A", "/rw/y").Waits(t)
			require.Equal(t, []string{"C holds /rw/y and waits for /rw/x; A holds /rw/x and waits for /rw/y"},
				deadlocks(t, looker, "/rw"), "the other reader may go, and it does not help")
		})
	})
}

// TestSemaphoreIsDeadlockedOnlyWhenTooManyAre: as long as another holder may give back what is needed, nobody is stuck.
func TestSemaphoreIsDeadlockedOnlyWhenTooManyAre(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		looker := at.Open(t)
		one, two, three := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect())
		caller(t, one, "A", "/sem", permits(2, 1)).Holds(t)
		c := caller(t, three, "C", "/sem", permits(2, 1)).Holds(t)
		caller(t, two, "B", "/lock").Holds(t)
		b := caller(t, two, "B", "/sem", permits(2, 1)).Waits(t)
		caller(t, one, "A", "/lock").Waits(t)
		require.Empty(t, deadlocks(t, looker, "/"))

		ofC := caller(t, three, "C", "/lock").Waits(t)
		require.Equal(t, []string{
			"B holds /lock and waits for /sem; A holds /sem and waits for /lock",
			"B holds /lock and waits for /sem; C holds /sem and waits for /lock",
		}, deadlocks(t, looker, "/"))

		ofC.Send(&messages.Cancel{})
		ofC.Finish(t)
		require.Empty(t, deadlocks(t, looker, "/"))
		c.Send(&messages.Release{})
		b.Hold(t)
	})
}

// TestDeadlockFollowsTheContextOfALease: the holder of a lease is blocked while a lock within it
// waits.
func TestDeadlockFollowsTheContextOfALease(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two := at.Open(t), at.Open(t)
		x := scene.Locked(t, one.Mutex("/x").Lock)
		y := scene.Locked(t, two.Mutex("/y").Lock)
		forY, forX := lockWithin(t, one, x, "/y"), lockWithin(t, two, y, "/x")
		found, err := one.Deadlocks(scene.Deadline(t), "/")
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

		scene.GiveBack(t, x) // and with it goes what was asked for within it
		require.ErrorIs(t, scene.Receive(t, forY).Err, locks.ErrReleased)
		a := scene.Receive(t, forX)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease, y)
	})
}

// lockWithin locks within a lease, and returns when that waits.
func lockWithin(t *testing.T, client *locks.Client, lease *locks.Lease, path string,
	opts ...locks.LockOption) <-chan scene.Answer {
	t.Helper()
	rec := scene.Recorder(t, client)
	got := scene.Elsewhere(lease.Context(), client.Mutex(path, append(opts, scene.ObservedBy(rec))...).Lock)
	scene.Await(t, rec, messages.StateWatching)
	return got
}
