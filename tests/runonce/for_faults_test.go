package runonce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// instantCell is a fault while a job is run for an instant, and what the mark says afterwards: "" where the next that
// comes is the first to run.
type instantCell struct {
	onceCell
	marked locks.MarkState
}

// beforeIt is a fault at the transaction that marks the begin.
func beforeIt(action embedded.Action, expire bool) onceCell {
	return onceCell{before: atMark(action, expire)}
}

// and is the same fault with its outcome.
func (cell onceCell) and(fails error, works bool) onceCell {
	cell.fails, cell.works = fails, works
	return cell
}

var instantCells = map[string]instantCell{
	"nothing happens":                        {onceCell{works: true}, locks.MarkDone},
	"request for the time lost":              {onceCell{before: atClock(embedded.CutBefore, false), works: true}, locks.MarkDone},
	"the time's reply lost":                  {onceCell{before: atClock(embedded.CutAfter, false), works: true}, locks.MarkDone},
	"the time's reply lost with the session": {onceCell{before: atClock(embedded.CutAfter, true), fails: locks.ErrLost}, ""},

	"request to begin lost":                  {beforeIt(embedded.CutBefore, false).and(nil, true), locks.MarkDone},
	"the begin's reply lost":                 {beforeIt(embedded.CutAfter, false).and(nil, true), locks.MarkDone},
	"request to begin lost with the session": {beforeIt(embedded.CutBefore, true).and(locks.ErrLost, false), ""},
	"the begin's reply lost with the session": {beforeIt(embedded.CutAfter, true).and(locks.ErrUnknownOutcome, false),
		locks.MarkBegun},

	"expired":         {onceCells["expired"], locks.MarkBegun},
	"cut for a while": {onceCells["cut for a while"], locks.MarkDone},
	"cut for long":    {onceCells["cut for long"], locks.MarkBegun},
	"silence":         {onceCells["silence"], locks.MarkBegun},
	"broken":          {onceCells["broken"], locks.MarkBegun},

	"request to end lost":                  {onceCells["request to mark lost"], locks.MarkDone},
	"the end's reply lost":                 {onceCells["the mark's reply lost"], locks.MarkDone},
	"request to end lost with the session": {onceCells["request to mark lost with the session"], locks.MarkBegun},
	"the end's reply lost with the session": {onceCells["the mark's reply lost with the session"],
		locks.MarkDone},
	"silence at the end":                        {onceCells["silence at the mark"], locks.MarkDone},
	"the end is held up until the session ends": {onceCells["the mark is held up until the session ends"], locks.MarkBegun},
}

// TestRunOnceForFaults: each fault has its outcome. By itself the work is called at most once for
// the instant, under every fault. WithRetryAfter has the next that comes call it again, unless it
// is known to be done.
func TestRunOnceForFaults(t *testing.T) {
	for name, cell := range instantCells {
		for policy, opts := range map[string][]locks.InstantOption{"at most once": nil,
			"at least once": {locks.WithRetryAfter(0)}} {
			t.Run(name+", "+policy, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { cell.run(t, opts) })
			})
		}
	}
}

func (cell instantCell) run(t *testing.T, opts []locks.InstantOption) {
	server := bubble.Server(t)
	s := &onceScene{server: server, network: &bubble.Network{Server: server}}
	mine := bubble.OpenThrough(t, server, s.network)
	at, c := time.Now(), &counted{}
	cameTo(t, locks.OnceRan, mine, at.Add(-time.Hour), &counted{}) // the nodes are there
	if cell.before != nil {
		cell.before(t, s)
	}
	s.others = bubble.Client(t, server)
	got, err := locks.RunOnceFor(t.Context(), mine, jobKey, at, func(ctx context.Context, token locks.Token) error {
		s.lease = locks.LeaseOf(ctx)
		time.Sleep(time.Minute + 5*time.Second)
		if cell.during != nil {
			cell.during(t, s)
		}
		return c.work(ctx, token)
	}, opts...)
	require.ErrorIs(t, err, cell.fails)
	for _, not := range []error{locks.ErrLost, locks.ErrUnknownOutcome, locks.ErrNotRun} {
		if not != cell.fails {
			require.NotErrorIs(t, err, not)
		}
	}
	require.Equal(t, cell.works, got.Outcome == locks.OnceRan)
	require.Equal(t, cell.works, c.calls == 1)
	time.Sleep(2 * time.Minute) // what was held up has arrived, and the session has ended where it must
	again := cell.marked == "" || cell.marked == locks.MarkBegun && opts != nil
	next := &counted{}
	if again {
		require.Equal(t, locks.MarkDone, cameTo(t, locks.OnceRan, s.others, at, next, opts...).Mark.State)
	} else {
		require.Equal(t, cell.marked, cameTo(t, locks.OnceAlreadyRan, s.others, at, next, opts...).Mark.State)
	}
	if opts == nil {
		require.LessOrEqual(t, c.calls+next.calls, 1)
	}
	cameTo(t, locks.OnceAlreadyRan, s.others, at, next, opts...)
	cameTo(t, locks.OnceRan, s.others, at.Add(time.Minute), next, opts...)
}

// TestRunOnceForLosesMessages: what TestRunOnceForFaults shows, on every kind of server: requests and replies are lost at the
// time, the begin and the end. The work is called once and marked twice.
func TestRunOnceForLosesMessages(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client, other := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		n := 0
		for _, action := range []rig.Action{rig.DropReply, rig.CutBefore} {
			for _, when := range []string{"time", "begin", "end"} {
				n++
				at := night(0).AddDate(0, 0, n-7)
				calls, fault := 0, (*rig.Fault)(nil)
				switch when {
				case "time":
					fault = expect(zk, proxy, jobClock, action)
				case "begin":
					fault = expect(zk, proxy, jobMark, action)
				}
				got, err := locks.RunOnceFor(patient.Deadline(t), client, jobKey, at, func(context.Context, locks.Token) error {
					calls++
					if when == "end" {
						fault = expect(zk, proxy, jobMark, action)
					}
					return nil
				})
				require.NoError(t, err)
				<-fault.Fired()
				require.Equal(t, 1, calls)
				require.Equal(t, []any{locks.OnceRan, locks.MarkDone}, []any{got.Outcome, got.Mark.State})
				require.Equal(t, int32(2*n), zk.Read(t, jobMark).Version, "%s: once", when)
				require.Equal(t, got.Mark, cameTo(t, locks.OnceAlreadyRan, other, at, &counted{}).Mark)
			}
		}
	})
}

// TestRunOnceForExpires: the session expires while the work is done. The mark says that it was begun.
func TestRunOnceForExpires(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client, other := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		_, err := locks.RunOnceFor(patient.Deadline(t), client, jobKey, night(1),
			func(ctx context.Context, _ locks.Token) error {
				id, password, _ := proxy.Session()
				proxy.Refuse(true)
				require.NoError(t, rig.ExpireSession(patient.Deadline(t), zk.Members[0].Addr(), id, password))
				proxy.Refuse(false)
				<-ctx.Done()
				return context.Cause(ctx)
			})
		require.ErrorIs(t, err, locks.ErrLost)
		require.Equal(t, locks.MarkBegun, cameTo(t, locks.OnceAlreadyRan, other, night(1), &counted{}).Mark.State)
		cameTo(t, locks.OnceRan, other, night(1), &counted{}, locks.WithRetryAfter(time.Hour))
		cameTo(t, locks.OnceAlreadyRan, client, night(1), &counted{}, locks.WithRetryAfter(0))
	})
}

// TestRunOnceForKilled: the process is killed while it works. Others are told that the run has
// begun, and callers that want it again wait until its session has expired.
func TestRunOnceForKilled(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		p := startJobberFor(t, zk, night(1))
		require.Contains(t, p.Hear(t), "works ")
		require.NoError(t, p.Kill())
		require.Equal(t, locks.MarkBegun, cameTo(t, locks.OnceAlreadyRan, client, night(1), &counted{}, locks.WithWaiting()).Mark.State)
		cameTo(t, locks.OnceRan, client, night(1), &counted{}, locks.WithRetryAfter(time.Hour))
		p = startJobberFor(t, zk, night(1))
		require.Equal(t, "already ran done false true", p.Hear(t))
		<-p.Exited()
	})
}

// TestRunOnceForPaused: the process is stopped while it works, until somebody else has run the next instant. It goes on,
// hears that it has lost the lock, and the mark is the other's.
func TestRunOnceForPaused(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		p := startJobberFor(t, zk, night(1))
		require.Contains(t, p.Hear(t), "works ")
		require.NoError(t, p.Pause())
		cameTo(t, locks.OnceBusy, client, night(1), &counted{})
		next := cameTo(t, locks.OnceRan, client, night(2), &counted{}, locks.WithWaiting())
		p.GoOn(t)
		require.NoError(t, p.Resume())
		require.Equal(t, "ran begun true false", p.Hear(t))
		<-p.Exited()
		require.Equal(t, next.Mark, cameTo(t, locks.OnceAlreadyRan, client, night(2), &counted{}).Mark)
		require.Equal(t, int32(3), zk.Read(t, jobMark).Version, "nothing of the first after the second")
	})
}

// TestRunOnceForBehindADeadHolder: a process is killed that has the lock, and has marked no instant. All replicas wait for
// the end of its session. One runs the instant, and the others are told so.
func TestRunOnceForBehindADeadHolder(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		replicas := []*locks.Client{zk.Open(t), zk.Open(t), zk.Open(t)}
		p := startJobber(t, zk) // of RunOnce, which marks its end only
		require.Contains(t, p.Hear(t), "works ")
		require.NoError(t, p.Kill())
		outcomes := make(chan locks.OnceOutcome, len(replicas))
		for _, client := range replicas {
			go func() {
				once, err := locks.RunOnceFor(patient.Deadline(t), client, jobKey, night(1), (&counted{}).work)
				if err != nil {
					t.Error(err)
				}
				outcomes <- once.Outcome
			}()
		}
		ran := 0
		for range replicas {
			switch outcome := <-outcomes; outcome {
			case locks.OnceRan:
				ran++
			default:
				require.Contains(t, []locks.OnceOutcome{locks.OnceBusy, locks.OnceAlreadyRan}, outcome)
			}
		}
		require.Equal(t, 1, ran)
	})
}
