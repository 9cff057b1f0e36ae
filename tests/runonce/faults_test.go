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
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// jobClock is the node that is written to be told the time.
const jobClock = jobKey + "/clock"

// onceScene has what a fault needs while a job is run.
type onceScene struct {
	server  *embedded.Server
	network *bubble.Network
	lease   *locks.Lease // of the work
	others  *locks.Client
}

// inject has something happen to the next transaction that has a part at a path; then, if expire says so, the session
// ends.
func (s *onceScene) inject(t *testing.T, path string, action embedded.Action, expire bool) {
	t.Helper()
	fault, err := s.server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: path, Action: action})
	require.NoError(t, err)
	mine := s.server.Sessions()[0]
	if expire {
		s.network.Refuse(true) // or the client may be back, and go on, before its session is ended
		go func() {
			if fault.Wait(t.Context()) == nil {
				_ = s.server.Expire(mine)
			}
			s.network.Refuse(false)
		}()
	}
}

// onceCell is a fault while a job is run, and what must come out.
type onceCell struct {
	before, during func(t *testing.T, s *onceScene) // the job, and the work
	// fails is an error that is wrapped, nil for none; works: the work is called; marked: there is a mark
	// afterwards.
	fails         error
	works, marked bool
}

func atClock(action embedded.Action, expire bool) func(t *testing.T, s *onceScene) {
	return func(t *testing.T, s *onceScene) { s.inject(t, jobClock, action, expire) }
}

func atMark(action embedded.Action, expire bool) func(t *testing.T, s *onceScene) {
	return func(t *testing.T, s *onceScene) { s.inject(t, jobMark, action, expire) }
}

var onceCells = map[string]onceCell{
	"request for the time lost":                  {before: atClock(embedded.CutBefore, false), works: true, marked: true},
	"the time's reply lost":                      {before: atClock(embedded.CutAfter, false), works: true, marked: true},
	"request for the time lost with the session": {before: atClock(embedded.CutBefore, true), fails: locks.ErrLost},
	"the time's reply lost with the session":     {before: atClock(embedded.CutAfter, true), fails: locks.ErrLost},

	"expired": {during: func(t *testing.T, s *onceScene) {
		require.NoError(t, s.server.Expire(s.lease.Session()))
		<-s.lease.Context().Done()
	}, fails: locks.ErrLost, works: true},
	"cut for a while": {during: func(_ *testing.T, s *onceScene) { s.network.Outage(2 * time.Second) }, works: true, marked: true},
	"cut for long":    {during: func(_ *testing.T, s *onceScene) { s.network.Outage(time.Minute) }, fails: locks.ErrLost, works: true},
	"silence": {during: func(_ *testing.T, s *onceScene) {
		s.server.Leader().HoldReplies()
		<-s.lease.Context().Done()
		s.server.Leader().ReleaseReplies()
	}, fails: locks.ErrLost, works: true},
	"broken": {during: func(t *testing.T, s *onceScene) {
		queue := patient.QueueOf(t, s.others, jobKey)
		require.NoError(t, s.others.Break(t.Context(), queue[0]))
	}, fails: locks.ErrLost, works: true},

	"request to mark lost":                  {during: atMark(embedded.CutBefore, false), works: true, marked: true},
	"the mark's reply lost":                 {during: atMark(embedded.CutAfter, false), works: true, marked: true},
	"request to mark lost with the session": {during: atMark(embedded.CutBefore, true), fails: locks.ErrLost, works: true},
	"the mark's reply lost with the session": {during: atMark(embedded.CutAfter, true), fails: locks.ErrUnknownOutcome,
		works: true, marked: true},
	"silence at the mark": {during: func(_ *testing.T, s *onceScene) {
		s.server.Leader().HoldReplies()
		go func() {
			time.Sleep(time.Minute)
			s.server.Leader().ReleaseReplies()
		}()
	}, fails: locks.ErrUnknownOutcome, works: true, marked: true},
	"the mark is held up until the session ends": {during: func(_ *testing.T, s *onceScene) {
		s.server.Leader().HoldRequests()
		go func() {
			time.Sleep(time.Minute)
			s.server.Leader().ReleaseRequests()
		}()
	}, fails: locks.ErrUnknownOutcome, works: true},
}

// TestRunOnceFaults: each fault has its outcome, and the mark says whether the work is to be done
// again. Under every fault, it is done twice only where the first RunOnce has returned an error.
func TestRunOnceFaults(t *testing.T) {
	for name, cell := range onceCells {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { cell.run(t) })
		})
	}
}

func (cell onceCell) run(t *testing.T) {
	server := bubble.Server(t)
	s := &onceScene{server: server, network: &bubble.Network{Server: server}}
	mine := bubble.OpenThrough(t, server, s.network)
	if cell.before != nil {
		cell.before(t, s)
	}
	s.others = bubble.Client(t, server)
	c := &counted{}
	got, err := locks.RunOnce(t.Context(), mine, jobKey, 24*time.Hour, func(ctx context.Context, token locks.Token) error {
		s.lease = locks.LeaseOf(ctx)
		time.Sleep(time.Minute + 5*time.Second) // a new connection's lease is longer; and not when a heartbeat is due
		if cell.during != nil {
			cell.during(t, s)
		}
		return c.work(ctx, token)
	})
	require.ErrorIs(t, err, cell.fails)
	for _, not := range []error{locks.ErrLost, locks.ErrUnknownOutcome} {
		if not != cell.fails {
			require.NotErrorIs(t, err, not)
		}
	}
	require.Equal(t, cell.works, got.Outcome == locks.OnceRan)
	require.Equal(t, cell.works, c.calls == 1)
	if err == nil {
		require.Equal(t, c.token, got.Mark.Token)
	} else {
		require.Zero(t, got.Mark.Token)
	}
	time.Sleep(2 * time.Minute) // what was held up has arrived, and the session has ended where it must
	next := once(t, s.others, 24*time.Hour, &counted{})
	if cell.marked {
		require.Equal(t, locks.OnceNotDue, next.Outcome)
		require.Equal(t, c.token, next.Mark.Token)
	} else {
		require.Equal(t, locks.OnceRan, next.Outcome)
	}
}

// TestMarkFirstFaults: the mark comes first, so that a fault in the work leaves it, and one at the mark keeps the work
// from being done.
func TestMarkFirstFaults(t *testing.T) {
	for name, cell := range map[string]onceCell{
		"expired":                onceCells["expired"].after(true, true),
		"cut for long":           onceCells["cut for long"].after(true, true),
		"broken":                 onceCells["broken"].after(true, true),
		"request to mark lost":   {before: atMark(embedded.CutBefore, false), works: true, marked: true},
		"the mark's reply lost":  {before: atMark(embedded.CutAfter, false), works: true, marked: true},
		"the request, and more":  {before: atMark(embedded.CutBefore, true), fails: locks.ErrLost},
		"the reply, and more":    {before: atMark(embedded.CutAfter, true), fails: locks.ErrUnknownOutcome, marked: true},
		"nothing happens at all": {works: true, marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { cell.runMarkedFirst(t) })
		})
	}
}

// after is the same fault with another outcome.
func (cell onceCell) after(works, marked bool) onceCell {
	cell.works, cell.marked = works, marked
	return cell
}

func (cell onceCell) runMarkedFirst(t *testing.T) {
	server := bubble.Server(t)
	s := &onceScene{server: server, network: &bubble.Network{Server: server}}
	mine := bubble.OpenThrough(t, server, s.network)
	_, err := locks.RunOnce(t.Context(), mine, jobKey, 0, (&counted{err: patient.ErrOfWork}).work) // the nodes are there
	require.Equal(t, patient.ErrOfWork, err)
	if cell.before != nil {
		cell.before(t, s)
	}
	s.others = bubble.Client(t, server)
	c := &counted{}
	got, err := locks.RunOnce(t.Context(), mine, jobKey, 24*time.Hour, func(ctx context.Context, token locks.Token) error {
		s.lease = locks.LeaseOf(ctx)
		time.Sleep(time.Minute)
		if cell.during != nil {
			cell.during(t, s)
			<-ctx.Done()
		}
		return c.work(ctx, token)
	}, locks.WithMarkFirst())
	require.ErrorIs(t, err, cell.fails)
	require.Equal(t, cell.works, got.Outcome == locks.OnceRan)
	require.Equal(t, cell.works, c.calls == 1)
	time.Sleep(2 * time.Minute)
	next := once(t, s.others, 24*time.Hour, &counted{}, locks.WithMarkFirst())
	require.Equal(t, cell.marked, next.Outcome == locks.OnceNotDue)
	if cell.works {
		require.Equal(t, c.token, next.Mark.Token)
		require.Equal(t, locks.MarkBegun, next.Mark.State)
	}
}
