package locks

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestHealthyWhenLeadHasReturned: Health fails while lead runs behind its lease, and not when it has returned, though the
// session has not said yet how the lease has ended.
func TestHealthyWhenLeadHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := &Lease{from: &lock{client: &Client{}}, values: context.Background(),
			hold: &sharing.Hold{Held: &messages.Held{}, Clock: zkconn.NewLeaseClock(nil)}}
		lease.hold.Clock.Extend(time.Now().Add(time.Second))
		lease.hold.Term, _ = lease.hold.Clock.Term()
		c := &candidate{Election: &Election{terms: new(sync.Map)}}
		c.lead = func(context.Context, *Leadership) error {
			require.NoError(t, c.Health())
			require.True(t, c.IsLeader())
			time.Sleep(2 * time.Second)
			require.ErrorIs(t, c.Health(), ErrLost)
			require.False(t, c.IsLeader())
			return nil
		}
		c.ctx, c.lease, c.Policy, c.Timeout = t.Context(), lease, term.Leader, func() time.Duration { return time.Second }
		c.step(term.Event{Kind: term.Begin})
		c.step(term.Event{Kind: term.Held, Valid: true})
		ended := make(chan error, 1)
		go func() { ended <- c.work(t.Context()) }()
		time.Sleep(time.Minute)
		require.NoError(t, c.Health(), "lead has returned")
		lease.end(ErrLost)
		require.ErrorIs(t, <-ended, ErrLost)
	})
}

// TestLossBehindTheCall: where the lease is lost when the user's function has returned, and before the machine hears of
// that, the next campaign begins at once, as after any lost lease.
func TestLossBehindTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &losing{t: t, client: virtualClient(t)}
		l.Timeout = func() time.Duration { return 0 }
		l.serve(t.Context(), term.Leader, l.campaign, l.work)
		require.ErrorIs(t, l.err, ErrBadAcquire)
		require.Zero(t, time.Since(l.lost))
	})
}

// losing loses its lease behind the call of its work, and campaigns once more, in vain.
type losing struct {
	tenure
	t      *testing.T
	client *Client
	lost   time.Time
}

func (l *losing) campaign(ctx context.Context) (*Lease, error) {
	if l.lost.IsZero() {
		return l.client.Mutex("/jobs/lost").Lock(ctx)
	}
	return nil, ErrBadAcquire
}

func (l *losing) work(ctx context.Context) error {
	time.Sleep(time.Second)
	queue, err := l.client.Queue(ctx, "/jobs/lost")
	require.NoError(l.t, err)
	require.NoError(l.t, l.client.Break(ctx, queue[0]))
	<-l.lease.Context().Done()
	l.lost = time.Now()
	return ErrAgain
}

// TestGoexitGivesBack: a function that ends its goroutine, as t.FailNow does, leaves no lock behind, and no term.
func TestGoexitGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := virtualClient(t)
		exits := func(context.Context, Token) error { runtime.Goexit(); return nil }
		election := client.Election("/Run")
		for path, call := range map[string]func(){
			"/Do":      func() { _ = Do(t.Context(), client.Mutex("/Do"), exits) },
			"/RunOnce": func() { _, _ = RunOnce(t.Context(), client, "/RunOnce", time.Hour, exits) },
			"/RunOnceFor": func() {
				_, _ = RunOnceFor(t.Context(), client, "/RunOnceFor", time.Now(), exits)
			},
			"/Run": func() {
				_ = election.Run(t.Context(), "", func(context.Context, *Leadership) error { runtime.Goexit(); return nil })
			},
		} {
			ended, returned := make(chan struct{}), false
			go func() {
				defer close(ended)
				call()
				returned = true
			}()
			<-ended
			require.False(t, returned, "%s: its function was not called", path)
			require.NoError(t, election.Health())
			require.False(t, election.IsLeader())
			synctest.Wait()
			queue, err := client.Queue(t.Context(), path)
			require.NoError(t, err)
			require.Empty(t, queue, path)
		}
	})
}

// TestCtxEndsWhileRunResigns: lead has returned nil, and so does Run, though its ctx ends while it gives the lead back.
func TestCtxEndsWhileRunResigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := virtualClient(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		require.NoError(t, client.Election("/jobs/lost").Run(ctx, "", func(_ context.Context, term *Leadership) error {
			context.AfterFunc(term.Context(), cancel)
			return nil
		}))
		<-ctx.Done()
	})
}

// virtualClient opens a client in virtual time, on a server of its own.
func virtualClient(t *testing.T) *Client {
	t.Helper()
	server := embedded.Run(t, embedded.WithoutNetwork())
	client, err := Open(t.Context(), server.Connect(), WithDialer(server.DialContext))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	return client
}
