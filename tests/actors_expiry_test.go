package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// fragile is a stage behind a proxy, whose session a test can end.
type fragile struct {
	*stage
	proxy *rig.Proxy
	at    *servers
}

func newFragile(t *testing.T, at *servers) *fragile {
	t.Helper()
	proxy := at.Proxy(t)
	return &fragile{newStage(t, proxy.Addr()+at.Root()), proxy, at}
}

// expire ends the session while its client cannot connect, and then lets it.
func (f *fragile) expire(t *testing.T) {
	t.Helper()
	id, password, ok := f.proxy.Session()
	require.True(t, ok)
	f.proxy.Refuse(true)
	f.proxy.Cut()
	require.NoError(t, rig.ExpireSession(deadline(t), f.at.members[0].Addr(), id, password))
	f.proxy.Refuse(false)
}

func TestExpiryOfAHolderIsLost(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f, others, o := newFragile(t, at), newStage(t, at.Connect()), look(t, at)
		holder := f.spawn(t, "/expired")
		held := holder.hold(t)
		next := others.spawn(t, "/expired")
		await(t, next.rec, messages.StateWatching)

		f.expire(t)
		got := next.hold(t)
		o.awaitQueue(t, "/expired", []string{got.Node})
		require.Equal(t, held.Grant, notice[*messages.Suspended](t, holder).Grant)
		lost := notice[*messages.Lost](t, holder)
		require.Equal(t, held.Grant, lost.Grant)
		// A machine that is slow enough finds that the lease has run out before it can connect again.
		require.Contains(t, []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver}, lost.Reason)
		require.Empty(t, holder.finish(t))
		requireMatch(t, holder, straight(messages.StateHeld, messages.StateRecovering, messages.StateLost)...)

		again := f.spawn(t, "/expired") // the session actor goes on with a new session
		await(t, again.rec, messages.StateWatching)
		next.send(&messages.Release{})
		regained := again.hold(t)
		require.NotEqual(t, held.Session, regained.Session)
		require.Greater(t, regained.Epoch, held.Epoch)
		require.Greater(t, regained.Token, got.Token)
	})
}

func TestExpiryOfAWaiterQueuesAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f, others, o := newFragile(t, at), newStage(t, at.Connect()), look(t, at)
		holder := others.spawn(t, "/requeued")
		held := holder.hold(t)
		waiter := f.spawn(t, "/requeued")
		before := await(t, waiter.rec, messages.StateWatching)

		f.expire(t)
		after, err := waiter.rec.AwaitNth(deadline(t), messages.StateWatching, 2)
		require.NoError(t, err)
		require.NotEqual(t, before.Node, after.Node)
		require.NotEqual(t, before.Session, after.Session)
		require.Equal(t, []string{held.Node, after.Node}, o.queue(t, "/requeued"))
		require.Empty(t, waiter.told)

		holder.send(&messages.Release{})
		got := waiter.hold(t)
		require.Equal(t, after.Node, got.Node)
		require.Equal(t, after.Session, got.Session)
		pattern := append(waited(messages.StateRecovering), waited(messages.StateHeld)...)
		requireMatch(t, waiter, pattern...)
	})
}

// TestExpiryWhileCreating: the create never reaches the server, and the session ends before it can be
// sent again.
func TestExpiryWhileCreating(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f, o := newFragile(t, at), look(t, at)
		o.plant(t, "/uncreated", "")
		for _, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
			id, password, ok := f.proxy.Session()
			require.True(t, ok)
			fault := f.proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: action})
			f.proxy.Refuse(true)
			r := f.spawn(t, "/uncreated")
			<-fault.Fired()
			before := await(t, r.rec, messages.StateRecovering)
			require.Equal(t, messages.StateCreating, before.From)
			require.NoError(t, rig.ExpireSession(deadline(t), at.members[0].Addr(), id, password))
			require.Empty(t, o.queue(t, "/uncreated"))
			f.proxy.Refuse(false)

			held := r.hold(t)
			require.NotEqual(t, id, held.Session)
			require.Equal(t, []string{held.Node}, o.queue(t, "/uncreated"))
			pattern := append(straight(messages.StateRecovering), straight(messages.StateHeld)...)
			requireMatch(t, r, pattern...)
			r.send(&messages.Release{})
			r.finish(t)
		}
	})
}

// TestExpiryWhileReleasing: the delete never reaches the server, but the node goes with its session. The
// lock was given back, and that is what its owner hears.
func TestExpiryWhileReleasing(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f, others, o := newFragile(t, at), newStage(t, at.Connect()), look(t, at)
		for _, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
			holder := f.spawn(t, "/unreleased")
			held := holder.hold(t)
			next := others.spawn(t, "/unreleased")
			await(t, next.rec, messages.StateWatching)
			id, password, ok := f.proxy.Session()
			require.True(t, ok)
			require.Equal(t, id, held.Session)

			fault := f.proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: action})
			f.proxy.Refuse(true)
			holder.send(&messages.Release{})
			<-fault.Fired()
			require.Equal(t, messages.StateReleasing, await(t, holder.rec, messages.StateRecovering).From)
			require.NoError(t, rig.ExpireSession(deadline(t), at.members[0].Addr(), id, password))
			f.proxy.Refuse(false)

			require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, holder.finish(t))
			requireMatch(t, holder, append(straight(messages.StateHeld, messages.StateReleasing),
				actorstest.InOrder(messages.StateRecovering, messages.StateReleased)...)...)
			got := next.hold(t)
			o.awaitQueue(t, "/unreleased", []string{got.Node})
			next.send(&messages.Release{})
			next.finish(t)
		}
	})
}

// TestStoppedWhileDisconnected: lock actors that end while there is no connection leave nothing, whether
// the session comes back or not.
func TestStoppedWhileDisconnected(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		for _, expires := range []bool{false, true} {
			f, others := newFragile(t, at), newStage(t, at.Connect())
			holder := f.spawn(t, "/unplugged")
			holder.hold(t)
			waiter := f.spawn(t, "/unplugged")
			await(t, waiter.rec, messages.StateWatching)
			next := others.spawn(t, "/unplugged")
			await(t, next.rec, messages.StateWatching)

			f.proxy.Refuse(true)
			f.proxy.Cut()
			await(t, holder.rec, messages.StateRecovering)
			await(t, waiter.rec, messages.StateRecovering)
			for _, r := range []*request{holder, waiter} {
				f.system.Root.Stop(r.lock)
				awaitEnd(t, r)
			}
			if expires {
				f.expire(t)
			}
			f.proxy.Refuse(false)
			next.hold(t)
			awaitCount(t, at, "/unplugged", 1)
			next.send(&messages.Release{})
			next.finish(t)
		}
	})
}
