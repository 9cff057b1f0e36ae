package tests

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
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

// TestExactlyOneGivesUp: the youngest of those in the deadlock; and when it gives back what it holds, the other gets
// its lock.
func TestExactlyOneGivesUp(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		detect := locks.WithDeadlockDetection("/pair", often)
		one, two := open(t, at.Connect()), open(t, at.Connect())
		x, err := one.Mutex("/pair/x").Lock(deadline(t))
		require.NoError(t, err)
		y, err := two.Mutex("/pair/y").Lock(deadline(t))
		require.NoError(t, err)
		older := elsewhere(x.Context(), one.Mutex("/pair/y", detect).Lock)
		awaitCount(t, at, "/pair/y", 2)
		younger := elsewhere(y.Context(), two.Mutex("/pair/x", detect).Lock)

		a := receive(t, younger)
		require.ErrorIs(t, a.err, locks.ErrDeadlock)
		var failed *locks.Error
		require.ErrorAs(t, a.err, &failed)
		require.Equal(t, messages.ReasonDeadlock, failed.Reason)
		require.Equal(t, "/pair/x", failed.Path)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.err.Error(), "holds /pair/x and waits for /pair/y; ")
		awaitCount(t, at, "/pair/x", 1)
		select {
		case a := <-older:
			t.Fatalf("the older one ended as well: %v", a.err)
		default:
		}
		giveBack(t, y)
		a = receive(t, older)
		require.NoError(t, a.err)
		giveBack(t, a.lease, x)
		awaitNone(t, at, "/pair/x")
		awaitNone(t, at, "/pair/y")
	})
}

// TestOnlyOneOfManyGivesUp: in a circle of five sessions, all of which look, however it came about.
func TestOnlyOneOfManyGivesUp(t *testing.T) {
	const many = 5
	eachServer(t, func(t *testing.T, at *servers) {
		var held []*request
		var asked []*request
		var stages []*stage
		for i := range many {
			stages = append(stages, newStage(t, at.Connect()))
			held = append(held, stages[i].caller(t, itoa(i), "/ring/"+itoa(i)).holds(t))
		}
		for i := range many {
			asked = append(asked, stages[i].caller(t, itoa(i), "/ring/"+itoa((i+1)%many), detecting))
		}
		var gaveUp []int
		over := make(chan int, many)
		for i, r := range asked {
			go func() {
				if _, err := r.rec.Await(deadline(t), messages.StateCancelled); err == nil {
					over <- i
				}
			}()
		}
		gaveUp = append(gaveUp, <-over)
		first := gaveUp[0]
		held[first].send(&messages.Release{})
		for i := 1; i < many; i++ { // one after the other gets what it waits for, and gives back what it has
			next := (first - i + many) % many
			asked[next].hold(t)
			asked[next].send(&messages.Release{})
			asked[next].finish(t)
			held[next].send(&messages.Release{})
			held[next].finish(t)
		}
		told := asked[first].finish(t)
		require.Len(t, told, 2)
		dead := told[0].(*messages.Deadlocked)
		require.Len(t, dead.Deadlock.Members, many)
		youngest, some := dead.Deadlock.Youngest()
		require.True(t, some)
		require.Equal(t, youngest.Node, dead.Node)
		for _, m := range dead.Deadlock.Members {
			require.LessOrEqual(t, m.Waits.Token, youngest.Token)
		}
		cancelled := told[1].(*messages.Cancelled)
		require.Equal(t, messages.ReasonDeadlock, cancelled.Reason)
		require.Equal(t, dead.Grant, cancelled.Grant)
	})
}

// TestOneThatDoesNotLookIsSpared: then the youngest of those that do gives up.
func TestOneThatDoesNotLookIsSpared(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := newStage(t, at.Connect()), newStage(t, at.Connect())
		ax := one.caller(t, "A", "/x").holds(t)
		two.caller(t, "B", "/y").holds(t)
		looks := one.caller(t, "A", "/y", detecting).waits(t)
		rests := two.caller(t, "B", "/x").waits(t)
		notice[*messages.Deadlocked](t, looks)
		require.Equal(t, messages.ReasonDeadlock, notice[*messages.Cancelled](t, looks).Reason)
		ax.send(&messages.Release{})
		rests.hold(t)
	})
}

// TestLookingHarmsNobody: who merely waits long looks again and again, and is let in when its turn comes.
func TestLookingHarmsNobody(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		proxy := at.Proxy(t)
		one, two := open(t, at.Connect()), open(t, proxy.Addr()+at.Root())
		held, err := one.Mutex("/slow").Lock(deadline(t))
		require.NoError(t, err)
		other, err := two.Mutex("/mine").Lock(deadline(t))
		require.NoError(t, err)
		got := lockWithin(t, two, other, "/slow", locks.WithDeadlockDetection("/", often))
		begun := proxy.Requests(rig.OpGetChildren2)
		eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 }, "it does not look")
		proxy.Cut()
		begun = proxy.Requests(rig.OpGetChildren2)
		eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 }, "it does not look any more")
		giveBack(t, held)
		a := receive(t, got)
		require.NoError(t, a.err)
		giveBack(t, a.lease, other)
	})
}

// TestDeadlocksThatMayNotBeLookedFor: such a request is refused before anything is sent.
func TestDeadlocksThatMayNotBeLookedFor(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, o := open(t, at.Connect()), look(t, at)
		for _, bad := range []messages.Detection{
			{Root: "/"}, {Root: "/", Every: -1}, {Every: often}, {Root: "locks", Every: often}, {Root: "/locks/", Every: often},
			{Root: "/other", Every: often}, {Root: "/lock", Every: often},
		} {
			_, err := client.Mutex("/locks/1", locks.WithDeadlockDetection(bad.Root, bad.Every)).Lock(deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire, "%+v", bad)
		}
		_, err := client.Contest("/locks/2", locks.WithDeadlockDetection("/", often)).Lock(deadline(t))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		require.Empty(t, at.Children(t, o.Conn, ""))
		require.False(t, errors.Is(err, locks.ErrDeadlock))
	})
}

// TestGivingUpOverAndOver: two that want the same locks in opposite orders back off and come again until both have
// had both.
func TestGivingUpOverAndOver(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		detect := locks.WithDeadlockDetection("/both", often)
		done := make(chan error, 2)
		for i, client := range []*locks.Client{open(t, at.Connect()), open(t, at.Connect())} {
			paths := []string{"/both/x", "/both/y"}
			if i == 1 {
				slices.Reverse(paths)
			}
			go func() { done <- both(deadline(t), client, paths, detect) }()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		awaitNone(t, at, "/both/x")
		awaitNone(t, at, "/both/y")
	})
}

// both takes two locks, one within the other, ten times; it begins anew when it is to give up.
func both(ctx context.Context, client *locks.Client, paths []string, opt locks.LockOption) error {
	for served := 0; served < 10; {
		outer, err := client.Mutex(paths[0]).Lock(ctx)
		if err != nil {
			return err
		}
		inner, err := client.Mutex(paths[1], opt).Lock(outer.Context())
		if err == nil {
			served++
			err = inner.Unlock(ctx)
		}
		if err != nil && !errors.Is(err, locks.ErrDeadlock) {
			return err
		}
		if err := outer.Unlock(ctx); err != nil {
			return err
		}
	}
	return nil
}
