package elections

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// leading is a leader loop that a test follows.
type leading struct {
	election *locks.Election
	began    chan *locks.Leadership // one for each term
	stop     context.CancelFunc
	ended    chan error // what Run returned
}

// leaders are the terms of one election that have not ended: at most one, by the clock of a bubble. Where time is real,
// a leader may hear late that its lease is over; then another leads, and may come before it.
type leaders struct {
	real  bool
	mu    sync.Mutex
	terms []*locks.Leadership
}

func (l *leaders) enter(term *locks.Leadership) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.terms {
		if !l.real || other.Valid() {
			return fmt.Errorf("%s and %s lead", other.Value(), term.Value())
		}
	}
	l.terms = append(l.terms, term)
	return nil
}

func (l *leaders) leave(term *locks.Leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.terms = slices.DeleteFunc(l.terms, func(other *locks.Leadership) bool { return other == term })
}

// lead runs a leader loop that leads until its context ends.
func lead(ctx context.Context, election *locks.Election, value string, among *leaders) *leading {
	ctx, stop := context.WithCancel(ctx)
	l := &leading{election, make(chan *locks.Leadership, 100), stop, make(chan error, 1)}
	go func() {
		l.ended <- election.Run(ctx, value, func(ctx context.Context, term *locks.Leadership) error {
			if err := among.enter(term); err != nil {
				return err
			}
			defer among.leave(term)
			l.began <- term
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	return l
}

func (l *leading) term(t *testing.T) *locks.Leadership {
	t.Helper()
	select {
	case term := <-l.began:
		return term
	case err := <-l.ended:
		t.Fatal("Run returned: ", err)
		return nil
	case <-time.After(patient.Bound):
		t.Fatal("it never leads")
		return nil
	}
}

func (l *leading) end(t *testing.T) error {
	t.Helper()
	l.stop()
	select {
	case err := <-l.ended:
		return err
	case <-time.After(patient.Bound):
		t.Fatal("Run never returned")
		return nil
	}
}

// TestRunLeads: one leads at a time; when its loop ends the other leads, with a greater token; both are told apart by
// IsLeader.
func TestRunLeads(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		among := leaders{real: true}
		first := lead(patient.Deadline(t), zk.Open(t).Election("/lead"), "first", &among)
		one := first.term(t)
		require.Equal(t, "first", one.Value())
		require.True(t, first.election.IsLeader())
		second := lead(patient.Deadline(t), zk.Open(t).Election("/lead"), "second", &among)
		require.False(t, second.election.IsLeader())
		require.ErrorIs(t, first.end(t), context.Canceled)
		require.False(t, first.election.IsLeader())
		two := second.term(t)
		require.Greater(t, two.Token(), one.Token())
		require.NoError(t, second.election.Health())

		_, err := zk.Open(t).Revoke(patient.Deadline(t), "/lead") // it resigns, and campaigns again
		require.NoError(t, err)
		require.Greater(t, second.term(t).Token(), two.Token())
		require.ErrorIs(t, second.end(t), context.Canceled)
		stories.AwaitNone(t, zk, "/lead")
	})
}

// TestRunAfterALoss: the session of a leader expires. It hears of it, returns, and campaigns again.
func TestRunAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		var among leaders
		l := lead(t.Context(), client.Election("/lead"), "x", &among)
		one := l.term(t)
		for range 3 {
			require.NoError(t, server.Expire(server.Sessions()[0]))
			<-one.Context().Done()
			two := l.term(t)
			require.Greater(t, two.Token(), one.Token())
			one = two
		}
		require.ErrorIs(t, l.end(t), context.Canceled)
	})
}

// TestRunWhenCutOff: the network of a leader is gone, or nothing passes any more. It stops leading before the other begins,
// and is a candidate again when the network is back. A cut that is short changes nothing.
func TestRunWhenCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ strike, heal func(*rig.Proxy) }{
		"refused": {func(p *rig.Proxy) { p.Refuse(true); p.Cut() }, func(p *rig.Proxy) { p.Refuse(false) }},
		"silence": {func(p *rig.Proxy) { p.Stall(rig.Up) }, func(p *rig.Proxy) { p.Resume(rig.Up) }},
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
				proxy := zk.Proxy(t)
				short := locks.WithSessionTimeout(2 * time.Second)
				cutOff, other := patient.Open(t, proxy.Addr()+zk.Root(), short), zk.Open(t)
				among := leaders{real: true}
				mine := lead(patient.Deadline(t), cutOff.Election("/lead"), "mine", &among)
				one := mine.term(t)
				theirs := lead(patient.Deadline(t), other.Election("/lead"), "theirs", &among)
				stories.AwaitCount(t, zk, "/lead", 2)
				c.strike(proxy)
				two := theirs.term(t)
				require.Greater(t, two.Token(), one.Token())
				require.False(t, one.Valid())
				patient.AwaitLost(t, one.Lease)
				require.False(t, mine.election.IsLeader())
				c.heal(proxy)
				stories.AwaitCount(t, zk, "/lead", 2)
				require.ErrorIs(t, theirs.end(t), context.Canceled)
				for mine.term(t).Token() < two.Token() { // a term of before the strike
				}
				require.ErrorIs(t, mine.end(t), context.Canceled)
			})
		})
	}
}

// TestRunEndsWithAnErrorThatMayNotPass, and with the work that is done; after one that may pass it leads again, each
// pause longer than the one before.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		terms := 0
		run := func(returns ...error) error {
			terms = 0
			return client.Election("/lead").Run(t.Context(), "x", func(context.Context, *locks.Leadership) error {
				terms++
				return returns[terms-1]
			})
		}
		require.NoError(t, run(nil))
		require.Equal(t, patient.ErrOfWork, run(patient.ErrOfWork))
		again := fmt.Errorf("%w: %w", locks.ErrAgain, patient.ErrOfWork)
		begun := time.Now()
		require.Equal(t, patient.ErrOfWork, run(again, again, again, again, again, patient.ErrOfWork))
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
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		election := client.Election("/lead")
		ctx, stop := context.WithCancel(t.Context())
		var among leaders
		began, leave, ended := make(chan *locks.Leadership, 9), make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- election.Run(ctx, "deaf", func(ctx context.Context, term *locks.Leadership) error {
				if err := among.enter(term); err != nil {
					return err
				}
				defer among.leave(term)
				began <- term
				<-leave
				return nil
			})
		}()
		<-began
		next := lead(t.Context(), other.Election("/lead"), "next", &among)
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

		go func() {
			ended <- election.Run(t.Context(), "deaf", func(_ context.Context, term *locks.Leadership) error {
				began <- term
				<-leave
				return nil
			})
		}()
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

// TestPriorities: a candidate of higher priority asks the leader to go once it has been ready for a while, and leads,
// also where one of lower priority came before it. Without priorities nobody is asked.
func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		var among leaders
		loop := func(value string, opts ...locks.ElectionOption) *leading {
			l := lead(t.Context(), bubble.Client(t, server).Election("/lead", opts...), value, &among)
			time.Sleep(time.Second)
			return l
		}
		const after = time.Minute
		low := loop("low", locks.WithPriority(1, after))
		first := low.term(t)
		lower := loop("lower", locks.WithPriority(0, after))
		high := loop("high", locks.WithPriority(2, after))
		begun := time.Now()
		term := high.term(t)
		require.NotNil(t, term)
		require.GreaterOrEqual(t, time.Since(begun)+time.Second, after)
		require.Less(t, time.Since(begun), after+10*time.Second)
		require.False(t, first.Valid())
		time.Sleep(time.Hour)
		require.True(t, term.Valid(), "nobody asks one of higher priority")
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

// TestPriorityAsksTheLeaderOnly: a holder in another queue of the path has no part in the election.
func TestPriorityAsksTheLeaderOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		connect := func() *locks.Client { return bubble.Client(t, server) }
		var bystanders []*locks.Lease
		for _, name := range []string{"orders", "bills"} {
			lease := bubble.Locked(t, connect().Mutex("/lead", locks.WithName(name)).Lock)
			bystanders = append(bystanders, lease)
		}
		var among leaders
		candidate := func(value string, priority int) *leading {
			election := connect().Election("/lead", locks.WithPriority(priority, 10*time.Second))
			return lead(t.Context(), election, value, &among)
		}
		low := candidate("low", 1)
		low.term(t)
		high := candidate("high", 2)
		high.term(t)
		time.Sleep(time.Minute)
		for _, lease := range bystanders {
			select {
			case <-lease.Revoked():
				t.Errorf("%s was asked", lease.Node())
			default:
			}
			bubble.GiveBack(t, lease)
		}
		require.ErrorIs(t, high.end(t), context.Canceled)
		require.ErrorIs(t, low.end(t), context.Canceled)
	})
}

// TestRunSaysThatTheLastTermWasLost: also where it ends for another reason, at once or while it campaigns again.
func TestRunSaysThatTheLastTermWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		ctx, stop := context.WithCancel(t.Context())
		began, leave, ended := make(chan *locks.Leadership, 1), make(chan error), make(chan error, 1)
		campaign := func() {
			ended <- client.Election("/lead").Run(ctx, "x", func(_ context.Context, term *locks.Leadership) error {
				began <- term
				return <-leave
			})
		}
		lose := func(term *locks.Leadership) {
			require.NoError(t, server.Expire(term.Session()))
			<-term.Context().Done()
		}
		go campaign()
		lose(<-began)
		next := bubble.Locked(t, other.Mutex("/lead").Lock)
		leave <- nil
		time.Sleep(time.Hour) // it campaigns, and the other leads
		stop()
		err := <-ended
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, locks.ErrLost)
		bubble.GiveBack(t, next)

		for _, of := range []error{nil, patient.ErrOfWork, context.Canceled} {
			ctx, stop = context.WithCancel(t.Context())
			go campaign()
			term := <-began
			lose(term)
			stop()
			leave <- of
			err = <-ended
			require.ErrorIs(t, err, context.Canceled, "%v", of)
			require.ErrorIs(t, err, locks.ErrLost, "%v", of)
		}

		ctx = t.Context()
		go campaign()
		lose(<-began)
		leave <- nil
		<-began // a new term begins: what was lost before is history
		leave <- nil
		require.NoError(t, <-ended)
	})
}
