package tests

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

func TestOperatorDeletesTheHoldersNode(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/broken")
		held := holder.hold(t)
		next := others.spawn(t, "/broken")
		await(t, next.rec, messages.StateWatching)

		o.remove(t, "/broken", held.Node)
		lost := notice[*messages.Lost](t, holder)
		require.Equal(t, held.Grant, lost.Grant)
		require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
		require.Empty(t, holder.finish(t))
		requireMatch(t, holder, straight(messages.StateHeld, messages.StateLost)...)
		got := next.hold(t)
		require.Greater(t, got.Token, held.Token)
		o.awaitQueue(t, "/broken", []string{got.Node})
	})
}

// TestOperatorDeletesARevokedHoldersNode: the same, while the holder is being asked to give back.
func TestOperatorDeletesARevokedHoldersNode(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		r := s.spawnFor(t, messages.Acquire{Path: "/impatient", Grace: bound})
		held := r.hold(t)
		o.write(t, "/impatient", held.Node, "unlock")
		notice[*messages.RevokeRequested](t, r)
		o.remove(t, "/impatient", held.Node)
		require.Equal(t, messages.ReasonNodeDeleted, notice[*messages.Lost](t, r).Reason)
		requireMatch(t, r, straight(messages.StateHeld, messages.StateRevoking, messages.StateLost)...)
	})
}

// short is a session timeout for tests that need a heartbeat or a slow re-list to find something, which
// takes them a sixth of it, or all of it.
const short = 12 * time.Second

// TestOperatorDeletesAWaitersNode: nothing tells a waiter of that but its session's heartbeat, or the
// slow re-list. It queues again, behind the others, and is granted in the end.
func TestOperatorDeletesAWaitersNode(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		others, o := newStage(t, at.Connect()), look(t, at)
		for _, c := range []struct {
			name  string
			alone bool // whether the waiter's session has nothing else to check
		}{{"found by the heartbeat", true}, {"found by the slow re-list", false}} {
			t.Run(c.name, func(t *testing.T) {
				holder := others.spawn(t, "/pruned")
				held := holder.hold(t)
				s := newStageFor(t, at.Connect(), short)
				if !c.alone { // the heartbeat checks a holder's node, if there is one
					s.spawn(t, "/elsewhere").hold(t)
				}
				waiter := s.spawn(t, "/pruned")
				node := await(t, waiter.rec, messages.StateWatching).Node
				o.remove(t, "/pruned", node)
				again, err := waiter.rec.AwaitNth(deadline(t), messages.StateCreating, 2)
				require.NoError(t, err)
				require.Equal(t, messages.StateRecovering, again.From)
				awaitCount(t, at, "/pruned", 2)
				require.Equal(t, held.Node, o.queue(t, "/pruned")[0])

				holder.send(&messages.Release{})
				got := waiter.hold(t)
				require.NotEqual(t, node, got.Node)
				eventually(t, func() bool {
					return slices.Equal(o.queue(t, "/pruned"), []string{got.Node}) || // or a slow machine has lost it
						slices.Contains(waiter.rec.States(), messages.StateLost)
				}, "the queue never was %s", got.Node)
				pattern := waited(messages.StateRecovering, messages.StateCreating)
				requireMatch(t, waiter, append(pattern, actorstest.Whatever(), actorstest.Then(messages.StateHeld),
					actorstest.Whatever())...)
				waiter.send(&messages.Release{})
				waiter.finish(t)
			})
		}
	})
}

// TestOperatorRemovesTheLockPath: everything in it goes, and the path itself, in one transaction. The
// holder has lost. The last one makes the path again and is granted, with a greater token though the
// sequence numbers begin again.
func TestOperatorRemovesTheLockPath(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/razed")
		held := holder.hold(t)
		second := newStage(t, at.Connect()).spawn(t, "/razed")
		node := await(t, second.rec, messages.StateWatching).Node
		last := newStage(t, at.Connect()).spawn(t, "/razed")
		await(t, last.rec, messages.StateWatching)

		var all []any
		for _, node := range o.queue(t, "/razed") {
			all = append(all, &zk.DeleteRequest{Path: at.Root() + "/razed/" + node, Version: -1})
		}
		_, err := o.Multi(append(all, &zk.DeleteRequest{Path: at.Root() + "/razed", Version: -1})...)
		require.NoError(t, err)

		require.Equal(t, messages.ReasonNodeDeleted, notice[*messages.Lost](t, holder).Reason)
		// The second waited for the head of the queue, and may have taken its end for its own turn before
		// it read its own node, which is gone as well.
		if notice[*messages.Held](t, second).Node == node {
			require.Equal(t, messages.ReasonNodeDeleted, notice[*messages.Lost](t, second).Reason)
		} else {
			second.send(&messages.Release{})
		}
		got := last.hold(t)
		require.Greater(t, got.Token, held.Token)
		o.awaitQueue(t, "/razed", []string{got.Node})
		last.send(&messages.Release{})
		last.finish(t)
		awaitNone(t, at, "/razed")

		later := s.spawn(t, "/razed")
		require.Greater(t, later.hold(t).Token, got.Token)
	})
}

// TestOperatorRemovesAnEmptyLockPath: between two requests of a session that knows it.
func TestOperatorRemovesAnEmptyLockPath(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		var newest messages.Token
		for range 3 {
			r := s.spawn(t, "/empty/deep")
			held := r.hold(t)
			require.Greater(t, held.Token, newest)
			newest = held.Token
			r.send(&messages.Release{})
			r.finish(t)
			require.NoError(t, o.Delete(at.Root()+"/empty/deep", -1))
			require.NoError(t, o.Delete(at.Root()+"/empty", -1))
		}
	})
}
