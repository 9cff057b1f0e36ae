package faces

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

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

func (c client) askAll(t *testing.T, wants ...messages.Acquire) *callOfAll {
	var lockers []locks.Locker
	for _, want := range wants {
		lockers = append(lockers, c.locker(t, want))
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

// hold waits until it holds all, and gives the grants in their order.
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

// giveBack gives all back.
func (c *callOfAll) giveBack(t *testing.T) {
	t.Helper()
	require.NoError(t, c.leases.Unlock(patient.Deadline(t)))
	require.ErrorIs(t, c.leases.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
}

// giveUp ends the wish for them.
func (c *callOfAll) giveUp() { c.cancel() }

// ended waits for its end by one lock.
func (c *callOfAll) ended(t *testing.T, path string, err error) {
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

// askAll asks for several locks as one. Package locks alone has that: an actor takes one after the other.
func askAll(t *testing.T, of asker, wants ...messages.Acquire) *callOfAll {
	t.Helper()
	return of.(client).askAll(t, wants...)
}

// eachClient tells a story by the faces of package locks.
func eachClient(t *testing.T, tell func(t *testing.T, f face, at *stories.Servers)) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		if f.name != "actors" {
			tell(t, f, at)
		}
	})
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
	eachClient(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/a")
		first := askAll(t, s.one, three()...)
		held := first.hold(t)
		require.Len(t, held, 3)
		require.Equal(t, []string{"/many/a", "/many/b", "/many/c"}, []string{held[0].Path, held[1].Path, held[2].Path})
		second := askAll(t, s.other, three()...)
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
	eachClient(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/a")
		all := askAll(t, s.one, three()...)
		held := all.hold(t)[0]
		s.o.Remove(t, held.Path, held.Node)
		all.ended(t, held.Path, locks.ErrLost)
		next := askAll(t, s.other, three()...)
		require.Greater(t, next.hold(t)[0].Token, held.Token)
		next.giveBack(t)
		stories.AwaitNone(t, at, "/many/b")
	})
}

// TestSeveralLocksAreGivenUp: the first of them is held while the last is waited for. It is given
// back.
func TestSeveralLocksAreGivenUp(t *testing.T) {
	eachClient(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/many/b")
		for _, holds := range []asker{s.one, s.other} {
			holder := s.ask(t, holds)
			s.held = holder.hold(t)
			all := askAll(t, s.one, messages.Acquire{Path: "/many/b"}, messages.Acquire{Path: "/many/a"})
			patient.Eventually(t, func() bool { return len(s.o.Queue(t, s.path)) == 2 }, "it never waits for the last")
			tried := s.other.ask(t, messages.Acquire{Path: "/many/a", Try: true})
			tried.ended(t, locks.ErrNotAcquired)
			all.giveUp()
			all.ended(t, "/many/b", context.Canceled)
			stories.AwaitNone(t, at, "/many/a")
			s.o.AwaitQueue(t, s.path, []string{s.held.Node})
			frees(t, holder)
		}
	})
}

// TestSeveralLocksRefused: nothing is sent when one is not well formed, or none is named, or one
// twice.
func TestSeveralLocksRefused(t *testing.T) {
	eachClient(t, func(t *testing.T, f face, at *stories.Servers) {
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
			{[]messages.Acquire{{Path: "/x"}, {Path: "/poor", Mode: messages.Semaphore, Permits: -2, Weight: 1}}, "/poor",
				locks.ErrBadAcquire},
		} {
			askAll(t, s.one, c.wants...).ended(t, c.says, c.err)
		}
		require.Equal(t, before, sent())
		require.Empty(t, at.Children(t, s.o.Conn, ""))
	})
}
