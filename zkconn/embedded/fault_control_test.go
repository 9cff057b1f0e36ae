package embedded_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// awaitHits waits until a fault has happened n times.
func (c *rawClient) awaitHits(i *embedded.Injection, n int) {
	c.t.Helper()
	until(c.t, func() bool { return i.Hits() >= n })
}

// Wait returns when the fault has happened, at once when it has already, and with its context's cause when
// that ends first.
func TestInjectionWait(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpDelete, Path: "/nowhere", Count: -1})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	err := fault.Wait(ctx)
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "delete")
	require.ErrorContains(t, err, "/nowhere")

	waited := make(chan error)
	go func() { waited <- fault.Wait(t.Context()) }()
	c.send(embedded.OpDelete, "/nowhere", anyVersion)
	require.NoError(t, <-waited)
	for range 100 {
		require.NoError(t, fault.Wait(ctx), "it has happened, whatever the context says")
	}
}

// Remove ends a fault, also one that was to go on for ever. Replies that it holds stay held.
func TestInjectionRemove(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Count: -1, Action: embedded.HoldReplies})
	c.send(embedded.OpCreate, createOf("/a", plain))
	require.NoError(t, fault.Wait(t.Context()))
	fault.Remove()
	fault.Remove()
	other := openRaw(t, s, 0, time.Minute)
	other.create("/b", plain)
	c.quiet()
	fault.Release()
	c.reply().must()
	require.Equal(t, 1, fault.Hits())
}

// One injection holds several connections, and Release lets all of them go; one that was closed in the
// meantime is no obstacle.
func TestInjectionReleasesAll(t *testing.T) {
	s, _ := frozen(t)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpExists, Count: -1, Action: embedded.HoldReplies})
	var all []*rawClient
	for range 5 {
		c := openRaw(t, s, 0, time.Minute)
		c.send(embedded.OpExists, "/", false)
		c.send(embedded.OpExists, "/", false)
		all = append(all, c)
	}
	all[0].awaitHits(fault, 10)
	all[0].leave()
	fault.Release()
	for _, c := range all[1:] {
		c.reply().must()
		c.reply().must()
	}
	fault.Remove()
	all[1].ping()
}

// A hook sees every request with its session and its paths, before it is carried out, and its
// action is taken before a fault's.
func TestHook(t *testing.T) {
	var seen []embedded.Request // written under the server's lock, read when nothing is under way
	var drop atomic.Bool
	s, _ := frozen(t, embedded.WithHook(func(r embedded.Request) embedded.Action {
		seen = append(seen, r)
		if r.Op == embedded.OpDelete && drop.CompareAndSwap(true, false) {
			return embedded.DropReply
		}
		return embedded.Pass
	}))
	c := openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpDelete, Count: -1})
	c.create("/a", plain)
	c.call(embedded.OpMulti, multiOf(partOf(embedded.OpCreate, createOf("/b", plain)), partOf(embedded.OpDelete, "/a", anyVersion))).must()
	c.ping()
	s.Sessions() // after the hook's last call
	require.Equal(t, []embedded.Request{
		{Session: c.session, Op: embedded.OpCreate, Paths: []string{"/a"}},
		{Session: c.session, Op: embedded.OpMulti, Paths: []string{"/b", "/a"}},
		{Session: c.session, Op: embedded.OpPing},
	}, seen)
	drop.Store(true)
	c.send(embedded.OpDelete, "/b", anyVersion)
	require.Equal(t, noNode, c.call(embedded.OpDelete, "/b", anyVersion).code, "the first was carried out, without a reply")
	require.Equal(t, 1, fault.Hits(), "the hook has had the first")
}

// Each action may come from a hook; what a hook holds nobody can release, so it lasts as long as the
// connection.
func TestHookActions(t *testing.T) {
	var action atomic.Int64
	s, clock := frozen(t, embedded.WithHook(func(r embedded.Request) embedded.Action {
		if r.Op == embedded.OpCreate {
			return embedded.Action(action.Load())
		}
		return embedded.Pass
	}))
	witness := openRaw(t, s, 0, time.Minute)
	try := func(a embedded.Action, path string) *rawClient {
		c := openRaw(t, s, 0, time.Second)
		action.Store(int64(a))
		c.send(embedded.OpCreate, createOf(path, plain))
		return c
	}
	try(embedded.CutBefore, "/cut-before").closed()
	require.False(t, witness.exists("/cut-before"))
	try(embedded.CutAfter, "/cut-after").closed()
	require.True(t, witness.exists("/cut-after"))
	try(embedded.DropReply, "/drop").ping()
	require.True(t, witness.exists("/drop"))
	before := len(s.Sessions())
	try(embedded.ExpireBefore, "/expire").closed()
	require.False(t, witness.exists("/expire"))
	require.Len(t, s.Sessions(), before)
	held := try(embedded.HoldReplies, "/hold")
	until(t, func() bool { return witness.exists("/hold") })
	held.quiet()
	clock.Advance(time.Second)
	held.closed()
}
