package services

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// world is servers, a network, and the one that meets the fault there.
type world interface {
	// others gives a client that meets no fault.
	others(t *testing.T) *locks.Client
	// path is the lock path.
	path() string
	// begin starts a script; it is in a process of its own for faults of processes.
	begin(t *testing.T, c cell) (*subject, *child.Process)
	// settle lets the hold get into its steady state.
	settle()
	// expire ends a session as its timeout does.
	expire(t *testing.T, session int64)
	// cut cuts the connection, and returns when there is another.
	cut(t *testing.T)
	// silence holds back all that is sent to the servers, until heal.
	silence()
	heal()
	// lose loses the reply to the next request that makes a contender's node, or deletes one. The function that it
	// returns waits until that has happened.
	lose(t *testing.T, what change) func()
	// exact: the clock is a bubble's.
	exact() bool
}

// change is a request whose reply is lost.
type change string

const (
	creates change = "create"
	deletes change = "delete"
)

// next is a client that waits for the lock in another session.
type next struct {
	client *locks.Client
	path   string
	got    chan *locks.Lease
}

// awaitQueue waits until so many nodes are in the queue, or it holds. There are never more than two.
func (n *next) awaitQueue(t *testing.T, nodes int) {
	t.Helper()
	ctx := patient.Deadline(t)
	for {
		queue, err := n.client.Queue(ctx, n.path)
		require.NoError(t, err)
		require.LessOrEqual(t, len(queue), 2, "a node too many: %v", queue)
		if len(queue) == nodes || len(n.got) > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// wait queues.
func (n *next) wait(t *testing.T) {
	t.Helper()
	n.got = make(chan *locks.Lease, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 10*patient.Bound)
	t.Cleanup(cancel)
	go func() {
		lease, err := n.client.Mutex(n.path).Lock(ctx)
		switch {
		case err == nil:
			n.got <- lease
		case ctx.Err() == nil: // otherwise the test is over
			t.Errorf("the waiter: %v", err)
		}
	}()
	n.awaitQueue(t, 2)
}

// holds waits until it holds.
func (n *next) holds(t *testing.T) *locks.Lease {
	t.Helper()
	select {
	case lease := <-n.got:
		return lease
	case <-patient.Deadline(t).Done():
		t.Fatal("the waiter never holds")
		return nil
	}
}

// play has a cell meet its fault, and checks all that comes out. It is false where the hold was over before the fault:
// in real time a machine may be too slow for the session timeout.
func (c cell) play(t *testing.T, w world) bool {
	n := &next{client: w.others(t), path: w.path()}
	require.NoError(t, locks.Do(patient.Deadline(t), n.client.Mutex(n.path), // so that the create is the lock's own
		func(context.Context, locks.Token) error { return nil }))
	created := func() {}
	if c.fault == lostReply {
		created = w.lose(t, creates)
	}
	s, process := w.begin(t, c)
	s.await(t, c.told[0])
	created()
	n.wait(t)
	w.settle()
	if heard, _ := s.all(); c.ends != kept && (len(heard) > 1 || len(n.got) > 0) && !w.exact() {
		return false
	}
	deleted := c.strike(t, w, s, process)
	first := s.token()
	switch c.ends {
	case kept:
		s.await(t, c.told...)
		require.Empty(t, n.got, "nobody else may hold")
		s.end()
		s.await(t, append(append(c.told, c.after...), over)...)
	case lost, given:
		lease := n.holds(t)
		if w.exact() && c.fault == silence {
			heard, _ := s.all()
			require.Equal(t, c.before(), slices.DeleteFunc(heard, func(line string) bool { return line == over }),
				"it is told before others hold")
		}
		c.overcome(t, w, process)
		require.Greater(t, lease.Token(), first)
		first = lease.Token()
		patient.GiveBack(t, lease)
	}
	deleted()
	if !w.exact() {
		c.told = c.toldInTime(t, s)
	}
	c.finish(t, s, n, first)
	return true
}

// rejoins: the member of a group is to be there again before it is told to end.
func (c cell) rejoins() bool { return c.ability == Group && c.ends == lost && c.fault != kill }

// toldInTime gives the reports that come by the real clock. A machine that stands still tells the
// end of a doubt late, or never, once the lease is over, as in a pause.
func (c cell) toldInTime(t *testing.T, s *subject) []string {
	t.Helper()
	if c.ability != OnChange || c.ends != lost || c.fault == kill || c.fault == pause {
		return c.told
	}
	heard := s.until(t, "lost: lost")
	for i, line := range heard[1 : len(heard)-1] {
		require.Equal(t, []string{"suspended", "resumed"}[i%2], line, "%q", heard)
	}
	return heard
}

// before has the reports that come before others hold, in a silence.
func (c cell) before() []string {
	for i, line := range c.told {
		if i > 0 && line == "holds" {
			return c.told[:i]
		}
	}
	return c.told
}

// strike has the fault happen. The function that it returns waits until a reply to a delete was
// lost.
func (c cell) strike(t *testing.T, w world, s *subject, process *child.Process) (deleted func()) {
	t.Helper()
	switch c.fault {
	case expiry:
		w.expire(t, s.session)
	case cut:
		w.cut(t)
	case silence:
		w.silence()
	case pause:
		require.NoError(t, process.Pause())
		if c.ends == given {
			time.Sleep(boundOfHolds + boundOfHolds/2)
			require.NoError(t, process.Resume())
		}
	case kill:
		require.NoError(t, process.Kill())
	case lostReply:
		return w.lose(t, deletes)
	}
	return func() {}
}

// overcome ends the fault.
func (c cell) overcome(t *testing.T, w world, process *child.Process) {
	t.Helper()
	switch {
	case c.fault == silence:
		w.heal()
	case c.fault == pause && c.ends == lost:
		require.NoError(t, process.Resume())
	}
}

// finish hears the story to its end: last is the token of the holder before.
func (c cell) finish(t *testing.T, s *subject, n *next, last locks.Token) {
	t.Helper()
	if c.fault != kill && c.ends != kept {
		s.await(t, c.told...)
		s.end()
		s.await(t, append(append(c.told, c.after...), over)...)
	}
	if s.grants() > 1 {
		require.Greater(t, s.token(), last)
	}
	if c.ends == kept {
		lease := n.holds(t)
		require.Greater(t, lease.Token(), last)
		patient.GiveBack(t, lease)
	}
	heard, _ := s.all()
	if c.fault == kill {
		require.Equal(t, c.told, heard)
	}
	n.awaitQueue(t, 0)
	if c.ability == Txn {
		c.checkValue(t, n)
	}
}

// checkValue finds out whether the transaction of a cell was carried out: only one that said so.
func (c cell) checkValue(t *testing.T, n *next) {
	t.Helper()
	create := func(ctx context.Context, _ locks.Token) error {
		_, err := locks.LeaseOf(ctx).Txn(ctx, locks.Create(valueOf(n.path), nil))
		require.Equal(t, c.ends != kept, err == nil, "%v", err)
		return nil
	}
	require.NoError(t, locks.Do(patient.Deadline(t), n.client.Mutex(n.path), create))
}
