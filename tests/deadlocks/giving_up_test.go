package deadlocks

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestExactlyOneGivesUp: the youngest of those in the deadlock; and when it gives back what it holds, the other gets
// its lock.
func TestExactlyOneGivesUp(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		detect := locks.WithDeadlockDetection("/pair", often)
		one, two := at.Open(t), at.Open(t)
		x := scene.Locked(t, one.Mutex("/pair/x").Lock)
		y := scene.Locked(t, two.Mutex("/pair/y").Lock)
		older := scene.Elsewhere(x.Context(), one.Mutex("/pair/y", detect, locks.WithLabel("the audit")).Lock)
		scene.AwaitCount(t, at, "/pair/y", 2)
		younger := scene.Elsewhere(y.Context(), two.Mutex("/pair/x", detect, locks.WithLabel("the report")).Lock)

		a := scene.Receive(t, younger)
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
		scene.AwaitCount(t, at, "/pair/x", 1)
		select {
		case a := <-older:
			t.Fatalf("the older one ended as well: %v", a.Err)
		default:
		}
		scene.GiveBack(t, y)
		a = scene.Receive(t, older)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease, x)
		scene.AwaitNone(t, at, "/pair/x")
		scene.AwaitNone(t, at, "/pair/y")
	})
}

// TestFoundTooLate: the answer to a probe names a deadlock, and comes after the grant. The request
// holds on.
func TestFoundTooLate(t *testing.T) {
	r := caller(t, scene.NewStage(t, embedded.Run(t).Addr()), "me", "/late", detecting)
	held := r.Hold(t)
	r.Send(&inspect.DeadlockProbed{Node: held.Path + "/" + held.Node, Deadlock: &messages.Deadlock{}})
	r.Send(&messages.Release{})
	told := r.Finish(t)
	require.Len(t, told, 1)
	require.IsType(t, &messages.Released{}, told[0])
}

// TestOnlyOneOfManyGivesUp: in a circle of five sessions, all of which look, however it came about. It is the youngest. It
// gives back what it holds, and then one after the other gets what it waits for.
func TestOnlyOneOfManyGivesUp(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		const many = 5
		path := func(i int) string { return "/ring/" + strconv.Itoa(i%many) }
		var sessions []*scene.Stage
		var held, asked []*scene.Request
		for i := range many {
			sessions = append(sessions, scene.NewStage(t, at.Connect()))
			held = append(held, caller(t, sessions[i], strconv.Itoa(i), path(i)).Holds(t))
		}
		over, ctx := make(chan int, many), scene.Deadline(t)
		for i := range many {
			r := caller(t, sessions[i], strconv.Itoa(i), path(i+1), detecting)
			asked = append(asked, r)
			go func() {
				if _, err := r.Rec.Await(ctx, messages.StateCancelled); err == nil {
					over <- i
				}
			}()
		}
		first := scene.Receive(t, over)
		held[first].Send(&messages.Release{})
		for i := 1; i < many; i++ {
			next := (first - i + many) % many
			asked[next].Hold(t)
			for _, r := range []*scene.Request{asked[next], held[next]} {
				r.Send(&messages.Release{})
				r.Finish(t)
			}
		}
		told := asked[first].Finish(t)
		require.Len(t, told, 2)
		dead, last := told[0].(*messages.Deadlocked), told[1].(*messages.Cancelled)
		require.Len(t, dead.Deadlock.Members, many)
		require.Equal(t, messages.ReasonDeadlock, last.Reason)
		require.Equal(t, dead.Grant, last.Grant)
		youngest, some := dead.Deadlock.Youngest()
		require.True(t, some)
		require.Equal(t, youngest.Node, dead.Node)
		for _, m := range dead.Deadlock.Members {
			require.LessOrEqual(t, m.Waits.Token, youngest.Token)
		}
	})
}

// TestOneThatDoesNotLookIsSpared: the youngest of the requests that look for deadlocks gives up,
// even where a younger one does not look.
func TestOneThatDoesNotLookIsSpared(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect())
		ax := caller(t, one, "A", "/x").Holds(t)
		caller(t, two, "B", "/y").Holds(t)
		looks := caller(t, one, "A", "/y", detecting).Waits(t)
		rests := caller(t, two, "B", "/x").Waits(t)
		scene.Notice[*messages.Deadlocked](t, looks)
		require.Equal(t, messages.ReasonDeadlock, scene.Notice[*messages.Cancelled](t, looks).Reason)
		ax.Send(&messages.Release{})
		rests.Hold(t)
	})
}

// TestLookingHarmsNobody: who merely waits long looks again and again, and is let in when its turn comes.
func TestLookingHarmsNobody(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		proxy := at.Proxy(t)
		one, two := at.Open(t), scene.Open(t, proxy.Addr()+at.Root())
		held := scene.Locked(t, one.Mutex("/slow").Lock)
		other := scene.Locked(t, two.Mutex("/mine").Lock)
		got := lockWithin(t, two, other, "/slow", locks.WithDeadlockDetection("/", often))
		begun := proxy.Requests(rig.OpGetChildren2)
		scene.Eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 }, "it does not look")
		proxy.Cut()
		begun = proxy.Requests(rig.OpGetChildren2)
		scene.Eventually(t, func() bool { return proxy.Requests(rig.OpGetChildren2) > begun+30 },
			"it does not look any more")
		scene.GiveBack(t, held)
		a := scene.Receive(t, got)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease, other)
	})
}
