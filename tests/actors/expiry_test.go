package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestExpiryOfAHolderIsLost(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f, others, o := stage.NewFragile(t, at), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := f.Spawn(t, "/expired")
		held := holder.Hold(t)
		next := others.Spawn(t, "/expired")
		patient.Await(t, next.Rec, messages.StateWatching)

		f.Expire(t)
		got := next.Hold(t)
		o.AwaitQueue(t, "/expired", []string{got.Node})
		require.Equal(t, held.Grant, stage.Notice[*messages.Suspended](t, holder).Grant)
		lost := stage.Notice[*messages.Lost](t, holder)
		require.Equal(t, held.Grant, lost.Grant)
		// A machine that is slow enough finds that the lease has run out before it can connect again.
		require.Contains(t, []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver}, lost.Reason)
		require.Empty(t, holder.Finish(t))
		stage.RequireMatch(t, holder, stage.Straight(messages.StateHeld, messages.StateRecovering, messages.StateLost)...)

		again := f.Spawn(t, "/expired") // the session actor goes on with a new session
		patient.Await(t, again.Rec, messages.StateWatching)
		next.Send(&messages.Release{})
		regained := again.Hold(t)
		require.NotEqual(t, held.Session, regained.Session)
		require.Greater(t, regained.Epoch, held.Epoch)
		require.Greater(t, regained.Token, got.Token)
	})
}

func TestExpiryOfAWaiterQueuesAgain(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f, others, o := stage.NewFragile(t, at), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := others.Spawn(t, "/requeued")
		held := holder.Hold(t)
		waiter := f.Spawn(t, "/requeued")
		before := patient.Await(t, waiter.Rec, messages.StateWatching)

		f.Expire(t)
		after, err := waiter.Rec.AwaitNth(patient.Deadline(t), messages.StateWatching, 2)
		require.NoError(t, err)
		require.NotEqual(t, before.Node, after.Node)
		require.NotEqual(t, before.Session, after.Session)
		require.Equal(t, []string{held.Node, after.Node}, o.Queue(t, "/requeued"))
		require.Empty(t, waiter.Told)

		holder.Send(&messages.Release{})
		got := waiter.Hold(t)
		require.Equal(t, after.Node, got.Node)
		require.Equal(t, after.Session, got.Session)
		pattern := append(stage.Waited(messages.StateRecovering), stage.Waited(messages.StateHeld)...)
		stage.RequireMatch(t, waiter, pattern...)
	})
}

// TestExpiryWhileCreating: the create never reaches the server, and the session ends before it can be
// sent again.
func TestExpiryWhileCreating(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f, o := stage.NewFragile(t, at), stories.Look(t, at)
		o.Plant(t, "/uncreated", "")
		for _, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
			id, password, ok := f.Proxy.Session()
			require.True(t, ok)
			fault := f.Proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: action})
			f.Proxy.Refuse(true)
			r := f.Spawn(t, "/uncreated")
			<-fault.Fired()
			before := patient.Await(t, r.Rec, messages.StateRecovering)
			require.Equal(t, messages.StateCreating, before.From)
			require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
			require.Empty(t, o.Queue(t, "/uncreated"))
			f.Proxy.Refuse(false)

			held := r.Hold(t)
			require.NotEqual(t, id, held.Session)
			require.Equal(t, []string{held.Node}, o.Queue(t, "/uncreated"))
			pattern := append(stage.Straight(messages.StateRecovering), stage.Straight(messages.StateHeld)...)
			stage.RequireMatch(t, r, pattern...)
			r.Send(&messages.Release{})
			r.Finish(t)
		}
	})
}

// TestExpiryWhileReleasing: the delete never reaches the server, but the node goes with its session. The
// lock was given back, and that is what its owner hears.
func TestExpiryWhileReleasing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f, others, o := stage.NewFragile(t, at), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
			holder := f.Spawn(t, "/unreleased")
			held := holder.Hold(t)
			next := others.Spawn(t, "/unreleased")
			patient.Await(t, next.Rec, messages.StateWatching)
			id, password, ok := f.Proxy.Session()
			require.True(t, ok)
			require.Equal(t, id, held.Session)

			fault := f.Proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: action})
			f.Proxy.Refuse(true)
			holder.Send(&messages.Release{})
			<-fault.Fired()
			require.Equal(t, messages.StateReleasing, patient.Await(t, holder.Rec, messages.StateRecovering).From)
			require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
			f.Proxy.Refuse(false)

			require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, holder.Finish(t))
			stage.RequireMatch(t, holder, append(stage.Straight(messages.StateHeld, messages.StateReleasing),
				actorstest.InOrder(messages.StateRecovering, messages.StateReleased)...)...)
			got := next.Hold(t)
			o.AwaitQueue(t, "/unreleased", []string{got.Node})
			next.Send(&messages.Release{})
			next.Finish(t)
		}
	})
}

// TestStoppedWhileDisconnected: lock actors that end while there is no connection leave nothing, whether
// the session comes back or not.
func TestStoppedWhileDisconnected(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		for _, expires := range []bool{false, true} {
			f, others := stage.NewFragile(t, at), stage.New(t, at.Connect())
			holder := f.Spawn(t, "/unplugged")
			holder.Hold(t)
			waiter := f.Spawn(t, "/unplugged")
			patient.Await(t, waiter.Rec, messages.StateWatching)
			next := others.Spawn(t, "/unplugged")
			patient.Await(t, next.Rec, messages.StateWatching)

			f.Proxy.Refuse(true)
			f.Proxy.Cut()
			patient.Await(t, holder.Rec, messages.StateRecovering)
			patient.Await(t, waiter.Rec, messages.StateRecovering)
			for _, r := range []*stage.Request{holder, waiter} {
				f.System.Root.Stop(r.Lock)
				awaitEnd(t, r)
			}
			if expires {
				f.Expire(t)
			}
			f.Proxy.Refuse(false)
			next.Hold(t)
			stories.AwaitCount(t, at, "/unplugged", 1)
			next.Send(&messages.Release{})
			next.Finish(t)
		}
	})
}
