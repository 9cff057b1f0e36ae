package deadlocks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestExactlyOneGivesUp: the youngest of those in the deadlock; and when it gives back what it holds, the other gets
// its lock.
func TestExactlyOneGivesUp(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		detect := locks.WithDeadlockDetection("/pair", often)
		one, two := at.Open(t), at.Open(t)
		x := patient.Locked(t, one.Mutex("/pair/x").Lock)
		y := patient.Locked(t, two.Mutex("/pair/y").Lock)
		older := patient.Elsewhere(x.Context(), one.Mutex("/pair/y", detect, locks.WithLabel("the audit")).Lock)
		stories.AwaitCount(t, at, "/pair/y", 2)
		younger := patient.Elsewhere(y.Context(), two.Mutex("/pair/x", detect, locks.WithLabel("the report")).Lock)

		a := patient.Receive(t, younger)
		require.ErrorIs(t, a.Err, locks.ErrDeadlock)
		var failed *locks.Error
		require.ErrorAs(t, a.Err, &failed)
		require.Equal(t, messages.ReasonDeadlock, failed.Reason)
		require.Equal(t, "/pair/x", failed.Path)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.Err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.Err.Error(), " “the audit” holds /pair/x and waits for /pair/y; ")
		require.Contains(t, a.Err.Error(), " “the report” holds /pair/y and waits for /pair/x")
		stories.AwaitCount(t, at, "/pair/x", 1)
		select {
		case a := <-older:
			t.Fatalf("the older one ended as well: %v", a.Err)
		default:
		}
		patient.GiveBack(t, y)
		a = patient.Receive(t, older)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease, x)
		stories.AwaitNone(t, at, "/pair/x")
		stories.AwaitNone(t, at, "/pair/y")
	})
}

// TestOnlyOneOfManyGivesUp: in a circle of five sessions, all of which look, however it came about.
// It is the youngest.
func TestOnlyOneOfManyGivesUp(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		dead, last := giveUpInTurn(t, 5, func() *stage.Stage { return stage.New(t, at.Connect()) })
		youngest, some := dead.Deadlock.Youngest()
		require.True(t, some)
		require.Equal(t, youngest.Node, dead.Node)
		for _, m := range dead.Deadlock.Members {
			require.LessOrEqual(t, m.Waits.Token, youngest.Token)
		}
		require.Equal(t, dead.Grant, last.Grant)
	})
}

// giveUpInTurn has callers hold one lock each and ask for the next one's, so that they wait in a
// circle. One of them gives up, and gives back what it holds. Then one after the other gets what it
// waits for. It returns what the one that gave up was told.
func giveUpInTurn(t *testing.T, many int, session func() *stage.Stage, more ...func(*messages.Acquire)) (
	*messages.Deadlocked, *messages.Cancelled) {
	t.Helper()
	var sessions []*stage.Stage
	var held, asked []*stage.Request
	for i := range many {
		sessions = append(sessions, session())
		held = append(held, caller(t, sessions[i], strconv.Itoa(i), "/ring/"+strconv.Itoa(i), more...).Holds(t))
	}
	type cancelled struct {
		which int
		err   error
	}
	over, ctx := make(chan cancelled, many), patient.Deadline(t)
	for i := range many {
		r := caller(t, sessions[i], strconv.Itoa(i), "/ring/"+strconv.Itoa((i+1)%many), append(more, detecting)...)
		asked = append(asked, r)
		go func() {
			_, err := r.Rec.Await(ctx, messages.StateCancelled)
			over <- cancelled{i, err}
		}()
	}
	gaveUp := <-over
	require.NoError(t, gaveUp.err)
	first := gaveUp.which
	held[first].Send(&messages.Release{})
	for i := 1; i < many; i++ { // one after the other gets what it waits for, and gives back what it has
		next := (first - i + many) % many
		asked[next].Hold(t)
		asked[next].Send(&messages.Release{})
		asked[next].Finish(t)
		held[next].Send(&messages.Release{})
		held[next].Finish(t)
	}
	told := asked[first].Finish(t)
	require.Len(t, told, 2)
	dead, last := told[0].(*messages.Deadlocked), told[1].(*messages.Cancelled)
	require.Len(t, dead.Deadlock.Members, many)
	require.Equal(t, messages.ReasonDeadlock, last.Reason)
	return dead, last
}

// TestOneThatDoesNotLookIsSpared: the youngest of the requests that look for deadlocks gives up,
// even where a younger one does not look.
func TestOneThatDoesNotLookIsSpared(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := stage.New(t, at.Connect()), stage.New(t, at.Connect())
		ax := caller(t, one, "A", "/x").Holds(t)
		caller(t, two, "B", "/y").Holds(t)
		looks := caller(t, one, "A", "/y", detecting).Waits(t)
		rests := caller(t, two, "B", "/x").Waits(t)
		stage.Notice[*messages.Deadlocked](t, looks)
		require.Equal(t, messages.ReasonDeadlock, stage.Notice[*messages.Cancelled](t, looks).Reason)
		ax.Send(&messages.Release{})
		rests.Hold(t)
	})
}

// TestLookingHarmsNobody: who merely waits long looks again and again, and is let in when its turn comes.
func TestLookingHarmsNobody(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		one, two := at.Open(t), patient.Open(t, proxy.Addr()+at.Root())
		held := patient.Locked(t, one.Mutex("/slow").Lock)
		other := patient.Locked(t, two.Mutex("/mine").Lock)
		got := lockWithin(t, two, other, "/slow", locks.WithDeadlockDetection("/", often))
		begun := proxy.Requests(rig.OpGetChildren2)
		patient.Eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 }, "it does not look")
		proxy.Cut()
		begun = proxy.Requests(rig.OpGetChildren2)
		patient.Eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 },
			"it does not look any more")
		patient.GiveBack(t, held)
		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease, other)
	})
}

// TestDeadlocksThatMayNotBeLookedFor: such a request is refused before anything is sent.
func TestDeadlocksThatMayNotBeLookedFor(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		for _, bad := range []messages.Detection{
			{Root: "/"}, {Root: "/", Every: -1}, {Every: often}, {Root: "locks", Every: often}, {Root: "/locks/", Every: often},
			{Root: "/other", Every: often}, {Root: "/lock", Every: often},
		} {
			_, err := client.Mutex("/locks/1", locks.WithDeadlockDetection(bad.Root, bad.Every)).Lock(patient.Deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire, "%+v", bad)
		}
		_, err := client.Contest("/locks/2", locks.WithDeadlockDetection("/", often)).Lock(patient.Deadline(t))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		require.Empty(t, at.Children(t, o.Conn, ""))
		require.False(t, errors.Is(err, locks.ErrDeadlock))
	})
}

// TestGivingUpOverAndOver: two that want the same locks in opposite orders back off and come again until both have
// had both.
func TestGivingUpOverAndOver(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		detect := locks.WithDeadlockDetection("/both", often)
		done := make(chan error, 2)
		for i, client := range []*locks.Client{at.Open(t), at.Open(t)} {
			paths := []string{"/both/x", "/both/y"}
			if i == 1 {
				slices.Reverse(paths)
			}
			go func() { done <- both(patient.Deadline(t), client, paths, detect) }()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		stories.AwaitNone(t, at, "/both/x")
		stories.AwaitNone(t, at, "/both/y")
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
