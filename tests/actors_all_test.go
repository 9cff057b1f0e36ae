package tests

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// spawnAll has a parent actor spawn one that acquires several locks.
func (s *stage) spawnAll(t *testing.T, wants ...messages.Acquire) *request {
	t.Helper()
	return s.spawnProps(t, func(rec actors.LockOption) *actor.Props { return actors.NewAll(s.session, wants, rec) })
}

func three() []messages.Acquire {
	return []messages.Acquire{
		{Path: "/many/c", Mode: messages.Contest},
		{Path: "/many/a", Mode: messages.Write},
		{Path: "/many/b", Mode: messages.Semaphore, Permits: 2},
	}
}

func TestActorOfSeveralLocks(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, other := newStage(t, at.Connect()), newStage(t, at.Connect())
		first := s.spawnAll(t, three()...)
		held := notice[*messages.AllHeld](t, first)
		require.Len(t, held.Locks, 3)
		require.Equal(t, "/many/a", held.Locks[0].Path)

		second := other.spawnAll(t, three()...)
		first.send(&messages.Release{})
		released := notice[*messages.AllReleased](t, first)
		require.Len(t, released.Locks, 3)
		require.Empty(t, first.finish(t))
		notice[*messages.AllHeld](t, second)
		other.system.Root.Stop(second.lock) // no more orderly than that
		third := s.spawnAll(t, three()...)
		notice[*messages.AllHeld](t, third)
		third.send(&messages.Cancel{})
		notice[*messages.AllReleased](t, third)
		awaitNone(t, at, "/many/a")
		awaitNone(t, at, "/many/b")
	})
}

func TestActorOfSeveralLocksLosesOne(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		all := s.spawnAll(t, three()...)
		held := notice[*messages.AllHeld](t, all).Locks[0]
		require.NoError(t, at.Raw(t).Delete(at.Root()+held.Path+"/"+held.Node, -1))
		lost := notice[*messages.AllLost](t, all)
		require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
		require.Equal(t, held.Grant, lost.Grant)
		require.Empty(t, all.finish(t))
		awaitNone(t, at, "/many/b")
	})
}

func TestActorOfSeveralLocksIsCancelled(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		holder := s.spawn(t, "/many/b")
		holder.hold(t)
		all := s.spawnAll(t, messages.Acquire{Path: "/many/b"}, messages.Acquire{Path: "/many/a"})
		require.Eventually(t, func() bool { return len(look(t, at).queue(t, "/many/b")) == 2 }, bound, 10*time.Millisecond)
		all.send(&messages.Cancel{})
		cancelled := notice[*messages.AllCancelled](t, all)
		require.Equal(t, "/many/b", cancelled.Path, "%+v %v", cancelled, all.rec.Notices())
		require.Empty(t, all.finish(t))
		awaitNone(t, at, "/many/a")
	})
}

func TestActorOfSeveralLocksRefuses(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		for _, bad := range [][]messages.Acquire{
			nil,
			{{Path: "/x"}, {Path: "/y"}, {Path: "/x", Mode: messages.Read}},
			{{Path: "/x"}, {Path: "y"}},
		} {
			all := s.spawnAll(t, bad...)
			require.Equal(t, messages.ReasonBadInput, notice[*messages.AllFailed](t, all).Reason)
			require.Empty(t, all.finish(t))
		}
	})
}

// TestActorsOfSeveralLocksInAFullSession: two that want the same two locks of a session with room for two nodes stand in
// each other's way, until pauses tell them apart. One that never has room is refused after a few tries, and tells that
// once; one that pauses may be told to end.
func TestActorsOfSeveralLocksInAFullSession(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		both := []messages.Acquire{{Path: "/a"}, {Path: "/b"}}
		s := newStage(t, at.Connect(), actors.WithMaxNodeBytes(2*nodeBytes(at, "/a")))
		first, second := s.spawnAll(t, both...), s.spawnAll(t, both...)
		for then := second; first != nil; first, then = then, nil {
			toldSecond := chan any(nil)
			if then != nil {
				toldSecond = then.told
			}
			var held any
			select {
			case held = <-first.told:
			case held = <-toldSecond:
				first, then = then, first
			case <-time.After(bound):
				t.Fatal("they keep each other out")
			}
			require.IsType(t, &messages.AllHeld{}, held, "%+v", held)
			first.send(&messages.Release{})
			notice[*messages.AllReleased](t, first)
			require.Empty(t, first.finish(t))
		}
		awaitNone(t, at, "/a")

		narrow := newStage(t, at.Connect(), actors.WithMaxNodeBytes(nodeBytes(at, "/a")))
		refused := narrow.spawnAll(t, both...)
		failed := notice[*messages.AllFailed](t, refused)
		require.Equal(t, messages.ReasonSessionFull, failed.Reason)
		require.Equal(t, "/b", failed.Path)
		require.Empty(t, refused.finish(t))
		awaitNone(t, at, "/a")

		pausing := narrow.spawnAll(t, both...)
		time.Sleep(50 * time.Millisecond) // then it pauses, most likely; it ends so in any case
		pausing.send(&messages.Release{})
		notice[*messages.AllCancelled](t, pausing)
		require.Empty(t, pausing.finish(t))
		awaitNone(t, at, "/a")
	})
}
