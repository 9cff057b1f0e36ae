package actors

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestOperatorDeletesTheHoldersNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/broken")
		held := holder.Hold(t)
		next := others.Spawn(t, "/broken")
		patient.Await(t, next.Rec, messages.StateWatching)

		o.Remove(t, "/broken", held.Node)
		lost := stage.Notice[*messages.Lost](t, holder)
		require.Equal(t, held.Grant, lost.Grant)
		require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
		require.Empty(t, holder.Finish(t))
		stage.RequireMatch(t, holder, stage.Straight(messages.StateHeld, messages.StateLost)...)
		got := next.Hold(t)
		require.Greater(t, got.Token, held.Token)
		o.AwaitQueue(t, "/broken", []string{got.Node})
	})
}

// TestOperatorDeletesARevokedHoldersNode: the same, while the holder is being asked to give back.
func TestOperatorDeletesARevokedHoldersNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.SpawnFor(t, messages.Acquire{Path: "/impatient", Grace: patient.Bound})
		held := r.Hold(t)
		o.Write(t, "/impatient", held.Node, "unlock")
		stage.Notice[*messages.RevokeRequested](t, r)
		o.Remove(t, "/impatient", held.Node)
		require.Equal(t, messages.ReasonNodeDeleted, stage.Notice[*messages.Lost](t, r).Reason)
		stage.RequireMatch(t, r, stage.Straight(messages.StateHeld, messages.StateRevoking, messages.StateLost)...)
	})
}

// short is a session timeout for tests that need a heartbeat or a slow re-list to find something, which
// takes them a sixth of it, or all of it.
const short = 12 * time.Second

// TestOperatorDeletesAWaitersNode: nothing tells a waiter of that but its session's heartbeat, or the
// slow re-list. It queues again, behind the others, and is granted in the end.
func TestOperatorDeletesAWaitersNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		others, o := stage.New(t, at.Connect()), stories.Look(t, at)
		for _, c := range []struct {
			name  string
			alone bool // whether the waiter's session has nothing else to check
		}{{"found by the heartbeat", true}, {"found by the slow re-list", false}} {
			t.Run(c.name, func(t *testing.T) {
				holder := others.Spawn(t, "/pruned")
				held := holder.Hold(t)
				s := stage.NewFor(t, at.Connect(), short)
				if !c.alone { // the heartbeat checks a holder's node, if there is one
					s.Spawn(t, "/elsewhere").Hold(t)
				}
				waiter := s.Spawn(t, "/pruned")
				node := patient.Await(t, waiter.Rec, messages.StateWatching).Node
				o.Remove(t, "/pruned", node)
				again, err := waiter.Rec.AwaitNth(patient.Deadline(t), messages.StateCreating, 2)
				require.NoError(t, err)
				require.Equal(t, messages.StateRecovering, again.From)
				stories.AwaitCount(t, at, "/pruned", 2)
				require.Equal(t, held.Node, o.Queue(t, "/pruned")[0])

				holder.Send(&messages.Release{})
				got := waiter.Hold(t)
				require.NotEqual(t, node, got.Node)
				patient.Eventually(t, func() bool {
					return slices.Equal(o.Queue(t, "/pruned"), []string{got.Node}) || // or a slow machine has lost it
						slices.Contains(waiter.Rec.States(), messages.StateLost)
				}, "the queue never was %s", got.Node)
				pattern := stage.Waited(messages.StateRecovering, messages.StateCreating)
				stage.RequireMatch(t, waiter, append(pattern, actorstest.Whatever(), actorstest.Then(messages.StateHeld),
					actorstest.Whatever())...)
				waiter.Send(&messages.Release{})
				waiter.Finish(t)
			})
		}
	})
}

// TestOperatorRemovesTheLockPath: everything in it goes, and the path itself, in one transaction. The
// holder has lost. The last one makes the path again and is granted, with a greater token though the
// sequence numbers begin again.
func TestOperatorRemovesTheLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/razed")
		held := holder.Hold(t)
		second := stage.New(t, at.Connect()).Spawn(t, "/razed")
		node := patient.Await(t, second.Rec, messages.StateWatching).Node
		last := stage.New(t, at.Connect()).Spawn(t, "/razed")
		patient.Await(t, last.Rec, messages.StateWatching)

		var all []any
		for _, node := range o.Queue(t, "/razed") {
			all = append(all, &zk.DeleteRequest{Path: at.Root() + "/razed/" + node, Version: -1})
		}
		_, err := o.Multi(append(all, &zk.DeleteRequest{Path: at.Root() + "/razed", Version: -1})...)
		require.NoError(t, err)

		require.Equal(t, messages.ReasonNodeDeleted, stage.Notice[*messages.Lost](t, holder).Reason)
		// The second waited for the head of the queue, and may have taken its end for its own turn before
		// it read its own node, which is gone as well.
		if stage.Notice[*messages.Held](t, second).Node == node {
			require.Equal(t, messages.ReasonNodeDeleted, stage.Notice[*messages.Lost](t, second).Reason)
		} else {
			second.Send(&messages.Release{})
		}
		got := last.Hold(t)
		require.Greater(t, got.Token, held.Token)
		o.AwaitQueue(t, "/razed", []string{got.Node})
		last.Send(&messages.Release{})
		last.Finish(t)
		stories.AwaitNone(t, at, "/razed")

		later := s.Spawn(t, "/razed")
		require.Greater(t, later.Hold(t).Token, got.Token)
	})
}

// TestOperatorRemovesAnEmptyLockPath: between two requests of a session that knows it.
func TestOperatorRemovesAnEmptyLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		var newest messages.Token
		for range 3 {
			r := s.Spawn(t, "/empty/deep")
			held := r.Hold(t)
			require.Greater(t, held.Token, newest)
			newest = held.Token
			r.Send(&messages.Release{})
			r.Finish(t)
			require.NoError(t, o.Delete(at.Root()+"/empty/deep", -1))
			require.NoError(t, o.Delete(at.Root()+"/empty", -1))
		}
	})
}
