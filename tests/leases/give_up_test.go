package leases

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func requireNotHeld(t *testing.T, lease *locks.Lease) {
	t.Helper()
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
}

// stages are the states in which a caller may go, and the request whose answer keeps it there.
var stages = []struct {
	state messages.State
	hold  rig.OpCode
}{
	{messages.StateCreating, rig.OpCreate},
	{messages.StateListing, rig.OpGetChildren2},
	{messages.StateWatching, 0},
}

// endings are the ways in which a ctx ends, and what Lock must return.
var endings = []struct {
	name string
	ctx  func(context.Context) (context.Context, func())
	want error
}{
	{"cancelled", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel
	}, context.Canceled},
	{"cause", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		return ctx, func() { cancel(errShutdown) }
	}, errShutdown},
	{"deadline", func(ctx context.Context) (context.Context, func()) {
		late := patient.NewExpiring(ctx)
		return late, late.Pass
	}, context.DeadlineExceeded},
}

var errShutdown = errors.New("the service is shutting down")

// A ctx ends in each of creating, listing and watching: Lock returns its error, and no node is left.
func TestCallerGoesWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, stage := range stages {
		for _, ending := range endings {
			t.Run(stage.state.String()+"/"+ending.name, func(t *testing.T) {
				stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
					proxy := zk.Proxy(t)
					client := patient.Open(t, proxy.Addr()+zk.Root())
					holder := patient.Locked(t, zk.Open(t).Mutex("/gone").Lock)
					requireKnown(t, client, "/gone")

					var fault *rig.Fault
					if stage.hold != 0 {
						fault = proxy.Expect(rig.Rule{Op: stage.hold, Action: rig.Delay})
					}
					mutex, rec := patient.Recorded(t, client, "/gone")
					ctx, end := ending.ctx(patient.Deadline(t))
					got := patient.Elsewhere(ctx, mutex.Lock)
					if fault != nil {
						stories.AwaitFault(t, fault, got)
					}
					patient.Await(t, rec, stage.state)
					end()
					a := patient.Receive(t, got)
					require.Nil(t, a.Lease)
					require.ErrorIs(t, a.Err, ending.want)
					var e *locks.Error
					require.ErrorAs(t, a.Err, &e)
					require.Equal(t, "/gone", e.Path)

					if fault != nil {
						fault.Release()
					}
					patient.Await(t, rec, messages.StateCancelled)
					require.Equal(t, []string{holder.Node()}, zk.Children(t, zk.Raw(t), "/gone"))
					require.NoError(t, actorstest.Match(rec.States(), actorstest.Then(messages.StateCreating), actorstest.Whatever(),
						actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled)))
				})
			})
		}
	}
}

// requireKnown makes the client learn a lock path, so that its next create is a single request.
func requireKnown(t *testing.T, client *locks.Client, path string) {
	t.Helper()
	_, err := client.Mutex(path).TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
}

// The grant is on its way when the caller goes: it is given back, and the next one gets it.
func TestGrantAfterCallerHasGone(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.Delay,
			Path: func(path string) bool { return path != zk.Root()+"/late" }})
		mutex, rec := patient.Recorded(t, client, "/late")
		ctx, cancel := context.WithCancel(patient.Deadline(t))
		got := patient.Elsewhere(ctx, mutex.Lock)
		stories.AwaitFault(t, fault, got)
		cancel()
		require.ErrorIs(t, patient.Receive(t, got).Err, context.Canceled)
		patient.Await(t, rec, messages.StateReleasing) // it knows before the grant can come
		fault.Release()
		patient.Await(t, rec, messages.StateCancelled)
		next := patient.Locked(t, zk.Open(t).Mutex("/late").TryLock)
		patient.GiveBack(t, next)
		stories.AwaitNone(t, zk, "/late")
	})
}

// Unlock's ctx bounds only its own waiting: the release goes on, and can be waited for again.
func TestUnlockCanBeWaitedForAgain(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		lease := patient.Locked(t, patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/unlock").Lock)
		fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.Delay})
		ctx, cancel := context.WithCancel(patient.Deadline(t))
		given := make(chan error, 1)
		go func() { given <- lease.Unlock(ctx) }()
		stories.AwaitFault(t, fault, given)
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		cancel()
		require.ErrorIs(t, <-given, context.Canceled)
		fault.Release()
		patient.GiveBack(t, lease)
		require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
		require.Empty(t, zk.Children(t, zk.Raw(t), "/unlock"))
	})
}
