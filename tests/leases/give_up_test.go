package leases

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestCallerGoesWhileWaiting: a ctx ends while its request is creating or watching, and where the grant is on its way. Lock
// returns its error, with its cause, and no node is left. TestGivenUpBetweenReads has one that is listing.
func TestCallerGoesWhileWaiting(t *testing.T) {
	shutdown := errors.New("the service is shutting down")
	for name, c := range map[string]struct {
		state messages.State
		free  bool
		kept  embedded.Fault // the answer that keeps it there
	}{
		"creating": {state: messages.StateCreating, kept: embedded.Fault{Path: "/gone/_c_*"}},
		"granted":  {state: messages.StateCreating, free: true, kept: embedded.Fault{Path: "/gone/_c_*"}},
		"watching": {state: messages.StateWatching, kept: embedded.Fault{Op: embedded.OpDelete, Path: "/elsewhere"}},
	} {
		for _, want := range []error{shutdown, context.DeadlineExceeded} {
			t.Run(name+"/"+want.Error(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := scene.Virtual(t)
					client, other := scene.Client(t, server), scene.Client(t, server)
					holder, holders := scene.Locked(t, other.Mutex("/gone").Lock), 1
					_, err := client.Mutex("/gone").TryLock(t.Context()) // the next create is a single request
					require.ErrorIs(t, err, locks.ErrNotAcquired)
					if c.free {
						scene.GiveBack(t, holder)
						holders = 0
					}
					synctest.Wait()
					c.kept.Session, c.kept.Action = client.State().ID, embedded.HoldReplies
					kept, err := server.Inject(c.kept)
					require.NoError(t, err)
					mutex, rec := scene.Recorded(t, client, "/gone")
					ctx, late := context.WithTimeout(t.Context(), time.Second)
					defer late()
					ctx, end := context.WithCancelCause(ctx)
					defer end(nil)
					got := scene.Elsewhere(ctx, mutex.Lock)
					scene.Await(t, rec, c.state)
					if want == shutdown {
						end(shutdown)
					}
					a := scene.Receive(t, got)
					require.Nil(t, a.Lease)
					require.ErrorIs(t, a.Err, want)
					require.Equal(t, want == shutdown, errors.Is(a.Err, context.Canceled))
					var e *locks.Error
					require.ErrorAs(t, a.Err, &e)
					require.Equal(t, "/gone", e.Path)

					kept.Release()
					scene.Await(t, rec, messages.StateCancelled)
					require.Len(t, scene.QueueOf(t, other, "/gone"), holders)
					require.NoError(t, actorstest.Match(rec.States(), actorstest.Then(messages.StateCreating), actorstest.Whatever(),
						actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled)))
				})
			})
		}
	}
}

// TestUnlockCanBeWaitedForAgain: Unlock's ctx bounds only its own waiting. The release goes on.
func TestUnlockCanBeWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		lease := scene.Locked(t, scene.Client(t, server).Mutex("/unlock").Lock)
		kept, err := server.Inject(embedded.Fault{Op: embedded.OpDelete, Action: embedded.HoldReplies})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, lease.Unlock(ctx), context.DeadlineExceeded)
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		kept.Release()
		scene.GiveBack(t, lease)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrNotHeld)
	})
}
