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
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLostIsNotCancelled: the work of a lease that has ended returns the error of its ctx, in each
// way that people write that. The error of Do says that the lease has ended. It matches
// context.Canceled only where the caller has gone.
func TestLostIsNotCancelled(t *testing.T) {
	ends := map[string]struct {
		how   error
		opts  []locks.LockOption
		begin func(t *testing.T, server *embedded.Server, other *locks.Client)
	}{
		"lost": {how: locks.ErrLost, begin: func(_ *testing.T, server *embedded.Server, _ *locks.Client) { server.Leader().Pause() }},
		"held for too long": {how: locks.ErrMaxHold, opts: []locks.LockOption{locks.WithMaxHold(time.Minute)},
			begin: func(*testing.T, *embedded.Server, *locks.Client) {}},
		"revoked": {how: locks.ErrRevoked, opts: []locks.LockOption{locks.WithGrace(time.Second)},
			begin: func(t *testing.T, _ *embedded.Server, other *locks.Client) {
				_, err := other.Revoke(t.Context(), "/work")
				require.NoError(t, err)
			}},
	}
	works := map[string]func(ctx context.Context) error{
		"its error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"error and cause": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", ctx.Err(), context.Cause(ctx))
		},
		"of a part of ours": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("pay: %w: %w", patient.ErrOfWork, ctx.Err())
		},
		"a deadline within": func(ctx context.Context) error {
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-soon.Done()
			<-ctx.Done()
			return errors.Join(&fs.PathError{Op: "write", Path: "x", Err: soon.Err()}, patient.ErrOfWork)
		},
	}
	calls := map[string]func(ctx context.Context, c *locks.Client, opts []locks.LockOption, work func(context.Context) error) error{
		"Do": func(ctx context.Context, c *locks.Client, opts []locks.LockOption, work func(context.Context) error) error {
			return locks.Do(ctx, c.Mutex("/work", opts...), func(ctx context.Context, _ locks.Token) error { return work(ctx) })
		},
		"RunOnce": func(ctx context.Context, c *locks.Client, opts []locks.LockOption, work func(context.Context) error) error {
			var once []locks.OnceOption
			for _, opt := range opts {
				once = append(once, opt)
			}
			_, err := locks.RunOnce(ctx, c, "/work", time.Hour, func(ctx context.Context, _ locks.Token) error { return work(ctx) }, once...)
			return err
		},
		"RunOnceFor": func(ctx context.Context, c *locks.Client, opts []locks.LockOption, work func(context.Context) error) error {
			var once []locks.InstantOption
			for _, opt := range opts {
				once = append(once, opt)
			}
			_, err := locks.RunOnceFor(ctx, c, "/work", time.Now(), func(ctx context.Context, _ locks.Token) error { return work(ctx) }, once...)
			return err
		},
	}
	for how, end := range ends {
		for returned, work := range works {
			for name, call := range calls {
				t.Run(name+", "+how+", "+returned, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						server := bubble.Server(t)
						client, other := bubble.Client(t, server), bubble.Client(t, server)
						for _, callerGoes := range []bool{false, true} {
							ctx, cancel := context.WithCancel(t.Context())
							err := call(ctx, client, end.opts, func(ctx context.Context) error {
								end.begin(t, server, other)
								err := work(ctx)
								if callerGoes {
									cancel()
								}
								return err
							})
							cancel()
							server.Leader().Resume()
							require.ErrorIs(t, err, end.how)
							require.True(t, locks.MayPass(err))
							require.Equal(t, callerGoes, errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded), err)
							if returned == "of a part of ours" || returned == "a deadline within" {
								require.ErrorIs(t, err, patient.ErrOfWork)
							}
							var path *fs.PathError
							require.Equal(t, returned == "a deadline within", errors.As(err, &path))
							time.Sleep(time.Minute)
						}
					})
				})
			}
		}
	}
}

// TestLostLeadIsNotCancelled: a term is lost, and its function returns the error of its ctx. Run goes on as a candidate, and
// ends for another reason. Its error tells of the loss, and matches context.Canceled only where the caller has gone.
func TestLostLeadIsNotCancelled(t *testing.T) {
	for _, callerGoes := range []bool{false, true} {
		t.Run(fmt.Sprintf("the caller goes: %v", callerGoes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client, other := bubble.Client(t, server), bubble.Client(t, server)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began, ended := make(chan *locks.Leadership, 1), make(chan error, 1)
				go func() {
					ended <- client.Election("/lead").Run(ctx, "x", func(ctx context.Context, term *locks.Leadership) error {
						began <- term
						<-ctx.Done()
						return fmt.Errorf("lead: %w: %w", patient.ErrOfWork, ctx.Err())
					})
				}()
				term := <-began
				waits := patient.Elsewhere(t.Context(), other.Mutex("/lead").Lock)
				time.Sleep(time.Minute)
				require.NoError(t, server.Expire(term.Session()))
				next := patient.Receive(t, waits)
				require.NoError(t, next.Err)
				time.Sleep(time.Minute) // it campaigns again
				if callerGoes {
					cancel()
				} else {
					require.NoError(t, client.Close(t.Context()))
				}
				err := <-ended
				require.ErrorIs(t, err, locks.ErrLost)
				require.ErrorIs(t, err, patient.ErrOfWork)
				require.Equal(t, callerGoes, errors.Is(err, context.Canceled), err)
				require.Equal(t, !callerGoes, errors.Is(err, locks.ErrClosed), err)
				bubble.GiveBack(t, next.Lease)
			})
		})
	}
}

// TestCancelledBySomebodyElse: an observer of a request sends its lock actor a Cancel. The caller has cancelled nothing,
// and is told that the lock failed, and why.
func TestCancelledBySomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		held := bubble.Locked(t, other.Mutex("/work").Lock)
		for _, command := range []any{&messages.Cancel{}, &messages.Cancel{Reason: messages.ReasonTimeout}, &messages.Release{}} {
			mutex, rec := patient.Recorded(t, client, "/work")
			got := patient.Elsewhere(t.Context(), func(ctx context.Context) (*locks.Lease, error) {
				return nil, locks.Do(ctx, mutex, func(context.Context, locks.Token) error { return nil })
			})
			patient.Await(t, rec, messages.StateWatching)
			of := rec.Transitions()[0].Actor
			client.System().Root.Send(actor.NewPID(of.Address, of.ID), command)
			err := patient.Receive(t, got).Err
			require.ErrorIs(t, err, locks.ErrFailed)
			require.NotErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			require.False(t, locks.MayPass(err))
			var why *locks.Error
			require.ErrorAs(t, err, &why)
			require.NotEmpty(t, why.Reason)
		}
		bubble.GiveBack(t, held)
	})
}

// TestLostLeaseAroundACall: calls with the ctx of a lease that is lost say that, and not that somebody has cancelled them.
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
			t.Run(fmt.Sprintf("%s, lost before: %v", name, before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := bubble.Server(t)
					client, other := bubble.Client(t, server), bubble.Client(t, server)
					bubble.Locked(t, other.Mutex("/other").Lock)
					lease := bubble.Locked(t, client.Mutex("/outer").Lock)
					time.Sleep(time.Minute)
					within, cancel := context.WithTimeout(lease.Context(), time.Hour)
					defer cancel()
					server.Leader().Pause()
					if before {
						<-lease.Context().Done()
					}
					err := call(within, lease, client)
					server.Leader().Resume()
					require.ErrorIs(t, err, locks.ErrLost)
					require.NotErrorIs(t, err, context.Canceled)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				})
			})
		}
	}
}

// TestAllSaysThatOneWasLost: of three locks the first is lost while the last is waited for. It is that what is told, and
// the cause of a caller that goes is told as well.
func TestAllSaysThatOneWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		bubble.Locked(t, other.Mutex("/c").Lock)
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
		queue, err := other.Queue(t.Context(), "/a")
		require.NoError(t, err)
		require.NoError(t, other.Break(t.Context(), queue[0]))
		err = <-got
		require.ErrorIs(t, err, locks.ErrLost)
		require.NotErrorIs(t, err, context.Canceled)

		ctx, cancel := context.WithCancelCause(t.Context())
		got = ask(ctx)
		cancel(patient.ErrOfWork)
		err = <-got
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, patient.ErrOfWork)
	})
}

// TestGivenUpBetweenReads: a waiter that is given up before the node before it has been read, or while it lists the queue
// again, says behind whom all the same: it has seen that the lock is busy.
func TestGivenUpBetweenReads(t *testing.T) {
	for name, c := range map[string]struct {
		op    embedded.Op
		state messages.State
	}{
		"reading the node before it": {embedded.OpGetData, messages.StateWatching},
		"listing again":              {embedded.OpGetChildren2, messages.StateListing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client, other := bubble.Client(t, server), bubble.Client(t, server)
				third := bubble.Client(t, server)
				first := bubble.Locked(t, other.Mutex("/busy").Lock)
				between, giveUp := context.WithCancel(t.Context())
				middle := patient.Elsewhere(between, third.Mutex("/busy").Lock)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if c.state == messages.StateWatching {
					server.Inject(embedded.Fault{Op: c.op, Path: "/busy/**", Session: client.State().ID, Action: embedded.HoldReplies})
				}
				got := patient.Elsewhere(ctx, client.Mutex("/busy").Lock)
				synctest.Wait()
				queue, err := other.Queue(t.Context(), "/busy")
				require.NoError(t, err)
				require.Len(t, queue, 3)
				if c.state == messages.StateListing {
					server.Inject(embedded.Fault{Op: c.op, Path: "/busy", Session: client.State().ID, Action: embedded.HoldReplies})
					giveUp()
					require.ErrorIs(t, patient.Receive(t, middle).Err, context.Canceled)
				}
				var e *locks.Error
				require.ErrorAs(t, patient.Receive(t, got).Err, &e)
				require.ErrorIs(t, e, context.DeadlineExceeded)
				require.Equal(t, c.state, e.State)
				require.Equal(t, queue[1].Node, e.Behind.Node)
				giveUp()
				bubble.GiveBack(t, first)
			})
		})
	}
}
