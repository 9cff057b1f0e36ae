package tests

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

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

// cancelled tells which of many requests was cancelled, or why nobody knows.
type cancelled struct {
	which int
	err   error
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
		over, ctx := make(chan cancelled, many), deadline(t)
		for i, r := range asked {
			go func() {
				_, err := r.rec.Await(ctx, messages.StateCancelled)
				over <- cancelled{i, err}
			}()
		}
		gaveUp := <-over
		require.NoError(t, gaveUp.err)
		first := gaveUp.which
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
		last := told[1].(*messages.Cancelled)
		require.Equal(t, messages.ReasonDeadlock, last.Reason)
		require.Equal(t, dead.Grant, last.Grant)
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
