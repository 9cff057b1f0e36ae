package leases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLostIsNotCancelled: the work of a lease that has ended returns the error of its ctx, in each
// way that people write that. The error of Do says that the lease has ended, on one line. It matches
// context.Canceled only where the caller has gone.
func TestLostIsNotCancelled(t *testing.T) {
	works := map[string]func(ctx context.Context) error{
		"nothing":   func(ctx context.Context) error { <-ctx.Done(); return nil },
		"its error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"error and cause": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", ctx.Err(), context.Cause(ctx))
		},
		"a deadline within": func(ctx context.Context) error {
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-soon.Done()
			<-ctx.Done()
			return errors.Join(&fs.PathError{Op: "write", Path: "x", Err: soon.Err()}, scene.ErrOfWork)
		},
	}
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		for end, c := range map[error]struct {
			opt   locks.LockOption
			begin func()
		}{
			locks.ErrLost:    {locks.WithLabel("lost"), func() { server.Leader().Pause() }},
			locks.ErrMaxHold: {locks.WithMaxHold(time.Minute), func() {}},
			locks.ErrRevoked: {locks.WithGrace(time.Second), func() {
				_, err := other.Revoke(t.Context(), "/work")
				require.NoError(t, err)
			}},
		} {
			for returned, work := range works {
				for _, callerGoes := range []bool{false, true} {
					ctx, cancel := context.WithCancel(t.Context())
					err := locks.Do(ctx, client.Mutex("/work", c.opt), func(ctx context.Context, _ locks.Token) error {
						c.begin()
						err := work(ctx)
						if callerGoes {
							cancel()
						}
						return err
					})
					cancel()
					server.Leader().Resume()
					what := fmt.Sprint(returned, ", ", err)
					require.ErrorIs(t, err, end, what)
					require.True(t, locks.MayPass(err), what)
					require.NotContains(t, err.Error(), "\n")
					require.Equal(t, callerGoes && returned != "nothing",
						errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded), what)
					var path *fs.PathError
					require.Equal(t, returned == "a deadline within", errors.As(err, &path), what)
					require.Equal(t, returned == "a deadline within", errors.Is(err, scene.ErrOfWork), what)
					time.Sleep(time.Minute)
				}
			}
		}
	})
}

// TestCancelledBySomebodyElse: an observer of a request sends its lock actor a Cancel. The caller has cancelled nothing,
// and is told that the lock failed, and why.
func TestCancelledBySomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		held := scene.Locked(t, other.Mutex("/work").Lock)
		for _, command := range []any{&messages.Cancel{}, &messages.Cancel{Reason: messages.ReasonTimeout}, &messages.Release{}} {
			mutex, rec := scene.Recorded(t, client, "/work")
			got := scene.Elsewhere(t.Context(), func(ctx context.Context) (*locks.Lease, error) { return nil, locks.Do(ctx, mutex, nil) })
			scene.Await(t, rec, messages.StateWatching)
			of := rec.Transitions()[0].Actor
			client.System().Root.Send(actor.NewPID(of.Address, of.ID), command)
			err := scene.Receive(t, got).Err
			require.ErrorIs(t, err, locks.ErrFailed)
			require.NotErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			require.False(t, locks.MayPass(err))
			var why *locks.Error
			require.ErrorAs(t, err, &why)
			require.NotEmpty(t, why.Reason)
		}
		scene.GiveBack(t, held)
	})
}

// TestLostLeaseAroundACall: calls with the ctx of a lease that is lost, before or meanwhile, say that, and not that somebody
// has cancelled them.
func TestLostLeaseAroundACall(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, lease *locks.Lease, c *locks.Client) error{
		"Lock": func(ctx context.Context, _ *locks.Lease, c *locks.Client) error {
			_, err := c.Mutex("/other").Lock(ctx)
			return err
		},
		"Queue": func(ctx context.Context, _ *locks.Lease, c *locks.Client) error {
			_, err := c.Queue(ctx, "/other")
			return err
		},
		"Txn": func(ctx context.Context, lease *locks.Lease, _ *locks.Client) error {
			_, err := lease.Txn(ctx, locks.Set("/other", nil, locks.AnyVersion))
			return err
		},
		"All": func(ctx context.Context, _ *locks.Lease, c *locks.Client) error {
			_, err := locks.All(ctx, c.Mutex("/other"), c.Mutex("/z"))
			return err
		},
	} {
		for _, before := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client, other := scene.Client(t, server), scene.Client(t, server)
				scene.Locked(t, other.Mutex("/other").Lock)
				lease := scene.Locked(t, client.Mutex("/outer").Lock)
				time.Sleep(time.Minute)
				within, cancel := context.WithTimeout(lease.Context(), time.Hour)
				defer cancel()
				server.Leader().Pause()
				if before {
					<-lease.Context().Done()
				}
				err := call(within, lease, client)
				server.Leader().Resume()
				require.ErrorIs(t, err, locks.ErrLost, name)
				require.NotErrorIs(t, err, context.Canceled, name)
				require.NotErrorIs(t, err, context.DeadlineExceeded, name)
			})
		}
	}
}

// TestAllSaysThatOneWasLost: of three locks the first is lost while the last is waited for. It is that what is told, and
// the cause of a caller that goes is told as well.
func TestAllSaysThatOneWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		scene.Locked(t, other.Mutex("/c").Lock)
		ask := func(ctx context.Context) <-chan error {
			got := make(chan error, 1)
			go func() {
				_, err := locks.All(ctx, client.Mutex("/a"), client.Mutex("/b"), client.Mutex("/c"))
				got <- err
			}()
			time.Sleep(time.Second)
			return got
		}
		got := ask(t.Context())
		require.NoError(t, other.Break(t.Context(), scene.QueueOf(t, other, "/a")[0]))
		err := <-got
		require.ErrorIs(t, err, locks.ErrLost)
		require.NotErrorIs(t, err, context.Canceled)

		ctx, cancel := context.WithCancelCause(t.Context())
		got = ask(ctx)
		cancel(scene.ErrOfWork)
		err = <-got
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, scene.ErrOfWork)
	})
}

// TestGivenUpBetweenReads: a waiter that is given up before the node before it has been read, or while it lists the queue
// again, says behind whom all the same: it has seen that the lock is busy. No node is left.
func TestGivenUpBetweenReads(t *testing.T) {
	for state, kept := range map[messages.State]embedded.Fault{
		messages.StateWatching: {Op: embedded.OpGetData, Path: "/busy/**"},
		messages.StateListing:  {Op: embedded.OpGetChildren2, Path: "/busy"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := scene.Virtual(t)
			client, other, third := scene.Client(t, server), scene.Client(t, server), scene.Client(t, server)
			kept.Session, kept.Action = client.State().ID, embedded.HoldReplies
			first := scene.Locked(t, other.Mutex("/busy").Lock)
			between, giveUp := context.WithCancel(t.Context())
			middle := scene.Elsewhere(between, third.Mutex("/busy").Lock)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			inject := func() *embedded.Injection {
				injected, err := server.Inject(kept)
				require.NoError(t, err)
				return injected
			}
			var read *embedded.Injection
			if state == messages.StateWatching {
				read = inject()
			}
			got := scene.Elsewhere(ctx, client.Mutex("/busy").Lock)
			synctest.Wait()
			queue := scene.QueueOf(t, other, "/busy")
			require.Len(t, queue, 3)
			if state == messages.StateListing {
				read = inject()
				giveUp()
				require.ErrorIs(t, scene.Receive(t, middle).Err, context.Canceled)
			}
			var e *locks.Error
			require.ErrorAs(t, scene.Receive(t, got).Err, &e)
			require.ErrorIs(t, e, context.DeadlineExceeded)
			require.Equal(t, state, e.State)
			require.Equal(t, queue[1].Node, e.Behind.Node)
			require.Equal(t, queue[2].Node, e.Node)
			giveUp()
			read.Release()
			synctest.Wait()
			require.Len(t, scene.QueueOf(t, other, "/busy"), 1, "no node is left")
			scene.GiveBack(t, first)
		})
	}
}
