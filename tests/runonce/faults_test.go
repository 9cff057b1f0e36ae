package runonce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// jobClock is the node that is written to be told the time.
const jobClock = jobKey + "/clock"

// moment is when a fault strikes: at the question for the time, at the mark of the begin, while the work is done, or at the
// mark of the end.
type moment int

const (
	asking moment = iota
	beginning
	working
	ending
)

// fixture has what a fault needs while a job is run.
type fixture struct {
	server  *embedded.Server
	network *scene.Network // of the one that runs
	mine    *locks.Client
	others  *locks.Client
	lease   *locks.Lease // of the work
}

// fault is one that strikes a run, and what must come out.
type fault struct {
	at     moment
	strike func(t *testing.T, s *fixture)
	// fails is an error that is wrapped, nil for none; works: the work is called; marked: the transaction that was struck
	// is carried out, or the next one to mark is.
	fails         error
	works, marked bool
}

// loses has something happen to the next transaction that has a part at a path; then, if expire says so, the session ends.
func loses(path string, action embedded.Action, expire bool) func(t *testing.T, s *fixture) {
	return func(t *testing.T, s *fixture) {
		injected, err := s.server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: path, Action: action})
		require.NoError(t, err)
		if expire {
			session := s.mine.State().ID
			s.network.Refuse(true) // or the client may be back, and go on, before its session is ended
			go func() {
				if injected.Wait(t.Context()) == nil {
					_ = s.server.Expire(session)
				}
				s.network.Refuse(false)
			}()
		}
	}
}

// outage cuts the connection of the one that runs.
func outage(length time.Duration) func(*testing.T, *fixture) {
	return func(_ *testing.T, s *fixture) { s.network.Outage(length) }
}

var faults = map[string]fault{
	"request for the time lost":                  {asking, loses(jobClock, embedded.CutBefore, false), nil, true, true},
	"the time's reply lost":                      {asking, loses(jobClock, embedded.CutAfter, false), nil, true, true},
	"request for the time lost with the session": {asking, loses(jobClock, embedded.CutBefore, true), locks.ErrLost, false, false},
	"the time's reply lost with the session":     {asking, loses(jobClock, embedded.CutAfter, true), locks.ErrLost, false, false},

	"request to begin lost":                   {beginning, loses(jobMark, embedded.CutBefore, false), nil, true, true},
	"the begin's reply lost":                  {beginning, loses(jobMark, embedded.CutAfter, false), nil, true, true},
	"request to begin lost with the session":  {beginning, loses(jobMark, embedded.CutBefore, true), locks.ErrLost, false, false},
	"the begin's reply lost with the session": {beginning, loses(jobMark, embedded.CutAfter, true), locks.ErrUnknownOutcome, false, true},

	"nothing happens": {working, outage(0), nil, true, true},
	"cut for a while": {working, outage(2 * time.Second), nil, true, true},
	"cut for long":    {working, outage(time.Minute), locks.ErrLost, true, false},
	"expired": {working, func(t *testing.T, s *fixture) {
		require.NoError(t, s.server.Expire(s.lease.Session()))
		<-s.lease.Context().Done()
	}, locks.ErrLost, true, false},
	"silence": {working, func(_ *testing.T, s *fixture) {
		s.server.Leader().HoldReplies()
		<-s.lease.Context().Done()
		s.server.Leader().ReleaseReplies()
	}, locks.ErrLost, true, false},
	"broken": {working, func(t *testing.T, s *fixture) {
		require.NoError(t, s.others.Break(t.Context(), scene.QueueOf(t, s.others, jobKey)[0]))
	}, locks.ErrLost, true, false},

	"request to mark lost":                   {ending, loses(jobMark, embedded.CutBefore, false), nil, true, true},
	"the mark's reply lost":                  {ending, loses(jobMark, embedded.CutAfter, false), nil, true, true},
	"request to mark lost with the session":  {ending, loses(jobMark, embedded.CutBefore, true), locks.ErrLost, true, false},
	"the mark's reply lost with the session": {ending, loses(jobMark, embedded.CutAfter, true), locks.ErrUnknownOutcome, true, true},
	"silence at the mark": {ending, func(_ *testing.T, s *fixture) {
		s.server.Leader().HoldReplies()
		time.AfterFunc(time.Minute, s.server.Leader().ReleaseReplies)
	}, locks.ErrUnknownOutcome, true, true},
	"the mark is held up until the session ends": {ending, func(_ *testing.T, s *fixture) {
		s.server.Leader().HoldRequests()
		time.AfterFunc(time.Minute, s.server.Leader().ReleaseRequests)
	}, locks.ErrUnknownOutcome, true, false},
}

// way is a way to run a job, and which marks it makes.
type way struct {
	run func(ctx context.Context, c *locks.Client, at time.Time, work func(context.Context, locks.Token) error) (locks.Once, error)
	// begins, ends: it marks the begin, and the end. retries: a run that has only begun is run again.
	begins, ends, retries bool
}

func inPeriod(begins bool, opts ...locks.OnceOption) way {
	return way{func(ctx context.Context, c *locks.Client, _ time.Time, work func(context.Context, locks.Token) error) (locks.Once, error) {
		return locks.RunOnce(ctx, c, jobKey, 10*time.Minute, work, opts...)
	}, begins, !begins, false}
}

func forInstant(opts ...locks.InstantOption) way {
	return way{func(ctx context.Context, c *locks.Client, at time.Time, work func(context.Context, locks.Token) error) (locks.Once, error) {
		return locks.RunOnceFor(ctx, c, jobKey, at, work, opts...)
	}, true, true, opts != nil}
}

var ways = map[string]way{
	"in a period": inPeriod(false), "in a period, marked first": inPeriod(true, locks.WithMarkFirst()),
	"for an instant": forInstant(), "for an instant, retried": forInstant(locks.WithRetryAfter(0)),
}

// TestRunOnceFaults: each fault has its outcome, in each way to run, for the first run ever and for a later one. The mark
// says whether the work is to be done again. Where its begin is marked, the work is called at most once by itself;
// else it is called twice only where the first call has returned an error.
func TestRunOnceFaults(t *testing.T) {
	for how, w := range ways {
		for name, f := range faults {
			for _, first := range []bool{true, false} {
				if f.at == beginning && (!w.begins || first) || f.at == ending && !w.ends {
					continue // the nodes are made at the first question for the time
				}
				t.Run(how+"/"+name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { w.meets(t, f, first) })
				})
			}
		}
	}
}

func (w way) meets(t *testing.T, f fault, first bool) {
	s := &fixture{server: scene.Virtual(t)}
	s.network = &scene.Network{Server: s.server}
	s.mine, s.others = scene.ClientOver(t, s.server, s.network), scene.Client(t, s.server)
	if !first {
		_, err := w.run(t.Context(), s.mine, time.Now(), (&counted{}).work)
		require.NoError(t, err)
		time.Sleep(10*time.Minute + time.Second)
	}
	at, c, next := time.Now(), &counted{}, &counted{}
	if f.at < working {
		f.strike(t, s)
	}
	got, err := w.run(t.Context(), s.mine, at, func(ctx context.Context, token locks.Token) error {
		s.lease = locks.LeaseOf(ctx)
		time.Sleep(time.Minute + 5*time.Second) // a new connection's lease is longer; and not when a heartbeat is due
		if f.at >= working {
			f.strike(t, s)
		}
		if f.at == working && f.fails != nil {
			<-ctx.Done()
			c.err = ctx.Err()
		}
		return c.work(ctx, token)
	})
	require.ErrorIs(t, err, f.fails)
	for _, not := range []error{locks.ErrLost, locks.ErrUnknownOutcome, locks.ErrNotRun, context.Canceled} {
		if not != f.fails {
			require.NotErrorIs(t, err, not)
		}
	}
	require.Equal(t, f.works, got.Outcome == locks.OnceRan)
	require.Equal(t, f.works, c.calls == 1)
	if err == nil {
		require.Equal(t, c.token, got.Mark.Token)
	}
	time.Sleep(2 * time.Minute) // what was held up has arrived, and the session has ended where it must
	var mark locks.MarkState
	switch {
	case f.marked && f.works && w.ends:
		mark = locks.MarkDone
	case (f.marked || f.works) && w.begins:
		mark = locks.MarkBegun
	}
	again, err := w.run(t.Context(), s.others, at, next.work)
	require.NoError(t, err)
	if mark == "" || mark == locks.MarkBegun && w.retries {
		require.Equal(t, locks.OnceRan, again.Outcome)
		require.Equal(t, 1, next.calls)
		again, err = w.run(t.Context(), s.others, at, next.work)
		require.NoError(t, err)
	} else {
		require.Equal(t, mark, again.Mark.State)
		if f.works {
			require.Equal(t, c.token, again.Mark.Token)
		}
		require.Zero(t, next.calls)
	}
	require.Contains(t, []locks.OnceOutcome{locks.OnceNotDue, locks.OnceAlreadyRan}, again.Outcome)
	if w.begins && w.ends {
		cameTo(t, locks.OnceRan, s.others, at.Add(time.Minute), next)
	}
}
