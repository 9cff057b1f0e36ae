package faces

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// client asks by package locks, with a session of its own or over a gateway.
type client struct {
	*locks.Client
	id func() int64
}

func openClient(t *testing.T, connect string, timeout time.Duration) asker {
	c := scene.Open(t, connect, locks.WithSessionTimeout(timeout))
	return client{c, func() int64 { return c.Session().ID() }}
}

// openGateway has a session serve requesters, and opens a client that is one.
func openGateway(t *testing.T, connect string, timeout time.Duration) asker {
	s := scene.NewStageFor(t, connect, timeout)
	pid, err := gateway.Spawn(s.System, s.Session, "gateway")
	require.NoError(t, err)
	scene.Cleanup(t, func() { _ = s.System.Root.StopFuture(pid).Wait() })
	c, err := gateway.Open(scene.Deadline(t), s.System, gateway.At(pid))
	require.NoError(t, err)
	scene.Cleanup(t, func() { scene.Closed(t, c.Close(context.WithoutCancel(scene.Deadline(t)))) })
	return client{c, s.Session.ID}
}

func (c client) session() int64     { return c.id() }
func (c client) close(t *testing.T) { require.NoError(t, c.Close(scene.Deadline(t))) }

// ask calls Lock, or TryLock, on another goroutine. A timeout is set in its context.
func (c client) ask(t *testing.T, want messages.Acquire) request {
	t.Helper()
	rec := scene.Recorder(t, c.Client)
	ctx, cancel := context.WithCancel(scene.Deadline(t))
	t.Cleanup(cancel)
	begun := func() { _, _ = rec.Await(ctx, messages.StateCreating) }
	lockCtx := ctx
	if want.Timeout > 0 { // from when the request begins: a context that has ended before asks for nothing
		late := scene.NewExpiring(ctx)
		lockCtx = late
		go func() {
			begun()
			time.Sleep(want.Timeout)
			late.Pass()
		}()
	}
	require.Equal(t, messages.Acquire{Path: want.Path, Grace: want.Grace, Label: want.Label, Try: want.Try, Timeout: want.Timeout},
		want, "no option is made of the rest")
	var locker locks.Locker = c.Mutex(want.Path, scene.ObservedBy(rec), locks.WithGrace(want.Grace), locks.WithLabel(want.Label))
	if want.Try {
		locker = locks.Try(locker)
	}
	return &call{client: c, path: want.Path, rec: rec, leave: func() { begun(); cancel() },
		got: scene.Elsewhere(lockCtx, locker.Lock), unlocked: make(chan error, 10)}
}

// call is a call of Lock.
type call struct {
	client   client
	path     string
	rec      *actorstest.Recorder
	leave    func() // ends the context of the call
	got      <-chan scene.Answer
	lease    *locks.Lease
	failed   error
	unlocks  int        // how many calls of Unlock there were
	unlocked chan error // and what they returned
}

func (c *call) recorder() *actorstest.Recorder { return c.rec }

func (c *call) hold(t *testing.T) *messages.Held {
	t.Helper()
	a := scene.Receive(t, c.got)
	require.NoError(t, a.Err)
	c.lease = a.Lease
	var held *messages.Held
	scene.Eventually(t, func() bool {
		for _, n := range c.rec.Notices() {
			if n, is := n.(*messages.Held); is {
				held = n
			}
		}
		return held != nil
	}, "the observer is never told")
	require.Equal(t, []any{held.Path, held.Node, held.Token, held.Session},
		[]any{c.lease.Path(), c.lease.Node(), c.lease.Token(), c.lease.Session()})
	c.rests(t)
	return held
}

func (c *call) giveBack() {
	c.unlocks++
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), scene.Bound)
		defer cancel()
		c.unlocked <- c.lease.Unlock(ctx)
	}()
}

func (c *call) giveUp() { c.leave() }

func (c *call) asked(t *testing.T) { t.Helper(); scene.AwaitAsked(t, c.lease) }

func (c *call) resumed(t *testing.T) { t.Helper(); c.rests(t) }

// revoke asks for the lock. Callers cannot ask a waiter.
func (c *call) revoke(t *testing.T) {
	t.Helper()
	if c.lease == nil {
		return
	}
	asked, err := c.client.Revoke(scene.Deadline(t), c.path)
	require.NoError(t, err)
	require.Len(t, asked, 1)
	require.Equal(t, c.lease.Node(), asked[0].Node)
}

func (c *call) rests(t *testing.T) {
	t.Helper()
	require.Empty(t, c.got)
	if c.lease != nil {
		require.True(t, c.lease.Valid())
		require.NoError(t, c.lease.Context().Err())
	}
}

func (c *call) ended(t *testing.T, err error) {
	t.Helper()
	if c.lease == nil {
		a := scene.Receive(t, c.got)
		c.failed = a.Err
		require.Nil(t, a.Lease)
		require.ErrorIs(t, a.Err, err)
		var e *locks.Error
		require.ErrorAs(t, a.Err, &e)
		require.Equal(t, c.path, e.Path)
		return
	}
	<-c.lease.Context().Done()
	require.False(t, c.lease.Valid())
	cause := context.Cause(c.lease.Context())
	if err != nil {
		require.ErrorIs(t, cause, err)
		require.ErrorIs(t, c.lease.Unlock(scene.Deadline(t)), err)
		return
	}
	require.ErrorIs(t, cause, locks.ErrReleased)
	confirmed := 0
	for range c.unlocks {
		if err := scene.Receive(t, c.unlocked); err == nil {
			confirmed++
		} else {
			require.ErrorIs(t, err, locks.ErrNotHeld)
		}
	}
	require.Equal(t, 1, confirmed)
	require.ErrorIs(t, c.lease.Unlock(scene.Deadline(t)), locks.ErrNotHeld)
}

func (c *call) why() string { return c.failed.Error() }
