package faces

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// several is a request for several locks as one.
type several interface {
	// hold waits until it holds all, and gives the grants in their order.
	hold(t *testing.T) []messages.Grant
	// giveBack gives all back, and waits for the end.
	giveBack(t *testing.T)
	// giveUp ends the wish for them.
	giveUp()
	// ended waits for its end by one lock: an actor is told the reason and the path, a caller err.
	ended(t *testing.T, path string, reason messages.Reason, err error)
}

// callOfAll is a call of locks.All.
type callOfAll struct {
	cancel context.CancelFunc
	got    <-chan answer
	leases *locks.Leases
}

type answer struct {
	leases *locks.Leases
	err    error
}

func (c client) askAll(t *testing.T, wants ...messages.Acquire) several {
	var lockers []locks.Locker
	for _, want := range wants {
		lockers = append(lockers, c.locker(want))
	}
	ctx, cancel := context.WithCancel(patient.Deadline(t))
	t.Cleanup(cancel)
	got := make(chan answer, 1)
	go func() {
		leases, err := locks.All(ctx, lockers...)
		got <- answer{leases, err}
	}()
	return &callOfAll{cancel: cancel, got: got}
}

func (c *callOfAll) hold(t *testing.T) (grants []messages.Grant) {
	t.Helper()
	a := patient.Receive(t, c.got)
	require.NoError(t, a.err)
	require.True(t, a.leases.Valid())
	c.leases = a.leases
	for _, l := range a.leases.Each() {
		grants = append(grants, messages.Grant{Path: l.Path(), Node: l.Node(), Token: l.Token()})
	}
	return grants
}

func (c *callOfAll) giveBack(t *testing.T) {
	t.Helper()
	require.NoError(t, c.leases.Unlock(patient.Deadline(t)))
	require.ErrorIs(t, c.leases.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
}

func (c *callOfAll) giveUp() { c.cancel() }

func (c *callOfAll) ended(t *testing.T, path string, _ messages.Reason, err error) {
	t.Helper()
	if c.leases == nil {
		failed := patient.Receive(t, c.got).err
		require.ErrorIs(t, failed, err)
		require.ErrorContains(t, failed, path)
		return
	}
	<-c.leases.Context().Done()
	require.ErrorIs(t, context.Cause(c.leases.Context()), err)
	require.False(t, c.leases.Valid())
	lost := c.leases.Unlock(patient.Deadline(t))
	require.ErrorIs(t, lost, err)
	require.ErrorContains(t, lost, path)
}

// spawnedAll is an actor of several locks.
type spawnedAll struct {
	r       *stage.Request
	granted []messages.Grant
}

func (p program) askAll(t *testing.T, wants ...messages.Acquire) several {
	return &spawnedAll{r: p.SpawnAll(t, wants...)}
}

func (s *spawnedAll) hold(t *testing.T) []messages.Grant {
	t.Helper()
	for _, held := range stage.Notice[*messages.AllHeld](t, s.r).Locks {
		s.granted = append(s.granted, held.Grant)
	}
	return s.granted
}

func (s *spawnedAll) giveBack(t *testing.T) {
	t.Helper()
	s.r.Send(&messages.Release{})
	require.Len(t, stage.Notice[*messages.AllReleased](t, s.r).Locks, len(s.granted))
	require.Empty(t, s.r.Finish(t))
}

func (s *spawnedAll) giveUp() { s.r.Send(&messages.Cancel{}) }

func (s *spawnedAll) ended(t *testing.T, path string, reason messages.Reason, _ error) {
	t.Helper()
	rest := s.r.Finish(t)
	require.Len(t, rest, 1)
	switch n := rest[0].(type) {
	case *messages.AllLost:
		require.Contains(t, s.granted, n.Grant)
		require.Equal(t, path, n.Path)
		require.Equal(t, reason, n.Reason)
	case *messages.AllCancelled:
		require.Equal(t, path, n.Path)
		require.Equal(t, reason, n.Reason)
	case *messages.AllFailed:
		require.Contains(t, n.Detail, path)
		require.Equal(t, reason, n.Reason)
	default:
		t.Fatalf("%T", n)
	}
}

// three are three locks of different kinds.
func three() []messages.Acquire {
	return []messages.Acquire{
		{Path: "/many/c", Mode: messages.Contest},
		{Path: "/many/a", Mode: messages.Write},
		{Path: "/many/b", Mode: messages.Semaphore, Permits: 2},
	}
}

// TestSeveralLocks: they are held in the order of their paths, and another one holds them next.
func TestSeveralLocks(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/a")
		first := s.one.askAll(t, three()...)
		held := first.hold(t)
		require.Len(t, held, 3)
		require.Equal(t, []string{"/many/a", "/many/b", "/many/c"}, []string{held[0].Path, held[1].Path, held[2].Path})
		second := s.other.askAll(t, three()...)
		stories.AwaitCount(t, at, s.path, 2)
		first.giveBack(t)
		for i, grant := range second.hold(t) {
			require.Greater(t, grant.Token, held[i].Token)
		}
		second.giveBack(t)
		stories.AwaitNone(t, at, "/many/a")
		stories.AwaitNone(t, at, "/many/b")
	})
}

// TestSeveralLocksLoseOne: the others are given back.
func TestSeveralLocksLoseOne(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/a")
		all := s.one.askAll(t, three()...)
		held := all.hold(t)[0]
		s.o.Remove(t, held.Path, held.Node)
		all.ended(t, held.Path, messages.ReasonNodeDeleted, locks.ErrLost)
		next := s.other.askAll(t, three()...)
		require.Greater(t, next.hold(t)[0].Token, held.Token)
		next.giveBack(t)
		stories.AwaitNone(t, at, "/many/b")
	})
}

// TestSeveralLocksAreGivenUp: the first of them is held while the last is waited for. It is given
// back.
func TestSeveralLocksAreGivenUp(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/b")
		for _, holds := range []asker{s.one, s.other} {
			holder := s.ask(t, holds)
			s.held = holder.hold(t)
			all := s.one.askAll(t, messages.Acquire{Path: "/many/b"}, messages.Acquire{Path: "/many/a"})
			patient.Eventually(t, func() bool { return len(s.o.Queue(t, s.path)) == 2 }, "it never waits for the last")
			tried := s.other.ask(t, messages.Acquire{Path: "/many/a", Try: true})
			tried.ended(t, locks.ErrNotAcquired)
			all.giveUp()
			all.ended(t, "/many/b", messages.ReasonCancelled, context.Canceled)
			stories.AwaitNone(t, at, "/many/a")
			s.o.AwaitQueue(t, s.path, []string{s.held.Node})
			frees(t, holder)
		}
	})
}

// TestSeveralLocksRefused: nothing is sent when one is not well formed, or none is named, or one
// twice.
func TestSeveralLocksRefused(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/x")
		sent := func() int { return s.proxy.Operations(rig.OpCreate) + s.proxy.Operations(rig.OpCreateContainer) }
		before := sent()
		for _, c := range []struct {
			wants []messages.Acquire
			says  string
			err   error
		}{
			{nil, "", locks.ErrBadAcquire},
			{[]messages.Acquire{{Path: "/x"}, {Path: "/y"}, {Path: "/x", Mode: messages.Read}}, "/x", locks.ErrBadAcquire},
			{[]messages.Acquire{{Path: "/x"}, {Path: "y"}}, "y", locks.ErrBadPath},
			{[]messages.Acquire{{Path: "/x"}, {Path: "/poor", Mode: messages.Semaphore, Permits: 2, Weight: 3}}, "/poor",
				locks.ErrBadAcquire},
		} {
			s.one.askAll(t, c.wants...).ended(t, c.says, messages.ReasonBadInput, c.err)
		}
		require.Equal(t, before, sent())
		require.Empty(t, at.Children(t, s.o.Conn, ""))
	})
}
