package elections

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// leading is a leader loop that a test follows.
type leading struct {
	election *locks.Election
	began    chan *locks.Leadership // one for each term
	stop     context.CancelFunc
	ended    chan error // what Run returned
}

// lead runs a leader loop that leads until its context ends. among counts those that lead: by the clock of a bubble one at
// most.
func lead(ctx context.Context, election *locks.Election, value string, among *atomic.Int32) *leading {
	ctx, stop := context.WithCancel(ctx)
	l := &leading{election, make(chan *locks.Leadership, 100), stop, make(chan error, 1)}
	go func() {
		l.ended <- election.Run(ctx, value, func(ctx context.Context, term *locks.Leadership) error {
			defer among.Add(-1)
			if among.Add(1) > 1 {
				return errors.New("two lead")
			}
			l.began <- term
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	return l
}

func (l *leading) term(t *testing.T) *locks.Leadership {
	t.Helper()
	return scene.Receive(t, l.began)
}

func (l *leading) end(t *testing.T) error {
	t.Helper()
	l.stop()
	return scene.Receive(t, l.ended)
}

// TestRunLeads: one leads at a time; when its loop ends the other leads, with a greater token; both are told apart by
// IsLeader.
func TestRunLeads(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		var among atomic.Int32
		first := lead(scene.Deadline(t), zk.Open(t).Election("/lead"), "first", &among)
		one := first.term(t)
		require.Equal(t, "first", one.Value())
		require.True(t, first.election.IsLeader())
		second := lead(scene.Deadline(t), zk.Open(t).Election("/lead"), "second", &among)
		require.False(t, second.election.IsLeader())
		require.ErrorIs(t, first.end(t), context.Canceled)
		require.False(t, first.election.IsLeader())
		two := second.term(t)
		require.Greater(t, two.Token(), one.Token())
		require.NoError(t, second.election.Health())

		_, err := zk.Open(t).Revoke(scene.Deadline(t), "/lead") // it resigns, and campaigns again
		require.NoError(t, err)
		require.Greater(t, second.term(t).Token(), two.Token())
		require.ErrorIs(t, second.end(t), context.Canceled)
		scene.AwaitNone(t, zk, "/lead")
	})
}

// TestRunEnds: with an error that may not pass, and with the work that is done. After one that may pass it leads again,
// with pauses that grow.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		terms := 0
		run := func(returns ...error) error {
			terms = 0
			return client.Election("/lead").Run(t.Context(), "x", func(context.Context, *locks.Leadership) error {
				terms++
				return returns[terms-1]
			})
		}
		require.NoError(t, run(nil))
		require.Equal(t, scene.ErrOfWork, run(scene.ErrOfWork))
		again := fmt.Errorf("%w: %w", locks.ErrAgain, scene.ErrOfWork)
		begun := time.Now()
		require.Equal(t, scene.ErrOfWork, run(again, again, again, again, again, scene.ErrOfWork))
		require.Equal(t, 6, terms)
		require.Greater(t, time.Since(begun), 500*time.Millisecond)
		require.Less(t, time.Since(begun), 20*time.Second)
		require.ErrorIs(t, client.Election("bad").Run(t.Context(), "x", nil), locks.ErrBadPath)

		require.PanicsWithValue(t, "lead", func() {
			_ = client.Election("/lead").Run(t.Context(), "x", func(context.Context, *locks.Leadership) error { panic("lead") })
		})
		require.NoError(t, run(nil), "it has resigned")
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, run(nil), locks.ErrClosed)
	})
}

// TestRunWaitsForItsFunction: nobody else leads while a leader that was told to stop has not returned, and Health fails
// when its lease is over and it still runs.
func TestRunWaitsForItsFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		election := client.Election("/lead")
		ctx, stop := context.WithCancel(t.Context())
		began, leave, ended := make(chan *locks.Leadership, 9), make(chan struct{}), make(chan error, 1)
		deaf := func(ctx context.Context) {
			ended <- election.Run(ctx, "deaf", func(_ context.Context, term *locks.Leadership) error {
				began <- term
				<-leave
				return nil
			})
		}
		go deaf(ctx)
		<-began
		next := lead(t.Context(), other.Election("/lead"), "next", new(atomic.Int32))
		time.Sleep(time.Minute)
		stop()
		time.Sleep(time.Hour)
		require.Empty(t, next.began, "the other must wait")
		require.NoError(t, election.Health())
		require.True(t, election.IsLeader())
		leave <- struct{}{}
		require.ErrorIs(t, <-ended, context.Canceled)
		next.term(t)
		require.ErrorIs(t, next.end(t), context.Canceled)

		go deaf(t.Context())
		term := <-began
		require.NoError(t, server.Expire(term.Session()))
		<-term.Context().Done()
		require.ErrorIs(t, election.Health(), locks.ErrLost)
		require.False(t, election.IsLeader())
		leave <- struct{}{}
		<-began
		require.NoError(t, election.Health())
		leave <- struct{}{}
		require.NoError(t, <-ended)
	})
}

// TestRunSaysThatTheLastTermWasLost: also where it ends for another reason, at once or while it campaigns again. Where its
// caller has cancelled nothing, the error is not one of ctx. Once a new term has begun, the loss is history.
func TestRunSaysThatTheLastTermWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		ctx, stop := context.WithCancel(t.Context())
		began, leave, ended := make(chan *locks.Leadership, 1), make(chan struct{}), make(chan error, 1)
		campaign := func() {
			ended <- client.Election("/lead").Run(ctx, "x", func(within context.Context, term *locks.Leadership) error {
				began <- term
				<-leave
				return fmt.Errorf("%w: %w", scene.ErrOfWork, within.Err())
			})
		}
		lose := func() {
			term := <-began
			require.NoError(t, server.Expire(term.Session()))
			<-term.Context().Done()
		}
		go campaign()
		lose()
		leave <- struct{}{}
		<-began // a new term
		stop()
		leave <- struct{}{}
		err := <-ended
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, locks.ErrLost)

		ctx, stop = context.WithCancel(t.Context())
		go campaign()
		lose()
		stop()
		leave <- struct{}{}
		err = <-ended
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, locks.ErrLost)

		ctx = t.Context()
		go campaign()
		lose()
		scene.Locked(t, other.Mutex("/lead").Lock)
		leave <- struct{}{}
		time.Sleep(time.Hour) // it campaigns, and the other leads
		require.NoError(t, client.Close(ctx))
		err = <-ended
		for _, of := range []error{locks.ErrClosed, locks.ErrLost, scene.ErrOfWork} {
			require.ErrorIs(t, err, of)
		}
		require.NotErrorIs(t, err, context.Canceled)
	})
}

// TestPriorities: a candidate of higher priority asks the leader to go once it has been ready for a while, and leads,
// also where one of lower priority came before it. A holder in another queue of the path is not asked, and without
// priorities nobody is.
func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		var among atomic.Int32
		loop := func(value string, opts ...locks.ElectionOption) *leading {
			l := lead(t.Context(), scene.Client(t, server).Election("/lead", opts...), value, &among)
			time.Sleep(time.Second)
			return l
		}
		bystander := scene.Locked(t, scene.Client(t, server).Mutex("/lead", locks.WithName("orders")).Lock)
		const after = time.Minute
		low := loop("low", locks.WithPriority(1, after))
		first := low.term(t)
		lower := loop("lower", locks.WithPriority(0, after))
		high := loop("high", locks.WithPriority(2, after))
		begun := time.Now()
		term := high.term(t)
		require.GreaterOrEqual(t, time.Since(begun)+time.Second, after)
		require.Less(t, time.Since(begun), after+10*time.Second)
		require.ErrorIs(t, context.Cause(first.Context()), locks.ErrReleased, "it was asked, and has resigned")
		time.Sleep(time.Hour)
		require.True(t, term.Valid(), "nobody asks one of higher priority")
		select {
		case <-bystander.Revoked():
			t.Error("a holder of another queue was asked")
		default:
		}
		require.ErrorIs(t, high.end(t), context.Canceled)
		low.term(t) // and not the lower one, though it came first
		require.Empty(t, lower.began)
		require.ErrorIs(t, low.end(t), context.Canceled)
		lower.term(t)
		plain := loop("plain")
		time.Sleep(time.Hour)
		require.Empty(t, plain.began)
		require.ErrorIs(t, lower.end(t), context.Canceled)
		plain.term(t)
		require.ErrorIs(t, plain.end(t), context.Canceled)
	})
}
