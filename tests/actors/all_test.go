package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func three() []messages.Acquire {
	return []messages.Acquire{
		{Path: "/many/c", Mode: messages.Contest},
		{Path: "/many/a", Mode: messages.Write},
		{Path: "/many/b", Mode: messages.Semaphore, Permits: 2},
	}
}

// TestActorOfSeveralLocksIsStopped: one that is stopped, and one that cancels what it holds, give all back.
func TestActorOfSeveralLocksIsStopped(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, other := stage.New(t, at.Connect()), stage.New(t, at.Connect())
		first := other.SpawnAll(t, three()...)
		stage.Notice[*messages.AllHeld](t, first)
		other.System.Root.Stop(first.Lock) // no more orderly than that
		second := s.SpawnAll(t, three()...)
		stage.Notice[*messages.AllHeld](t, second)
		second.Send(&messages.Cancel{})
		stage.Notice[*messages.AllReleased](t, second)
		stories.AwaitNone(t, at, "/many/a")
		stories.AwaitNone(t, at, "/many/b")
	})
}

// TestWhyActorOfSeveralLocksEnds: one that holds the first lock and waits for the second is cancelled for the reason for
// which it gives up.
func TestWhyActorOfSeveralLocksEnds(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		keeper := s.Spawn(t, "/b").Holds(t)
		var owner *actor.PID
		for why, ends := range map[messages.Reason]func(*stage.Request){
			messages.ReasonReleased:  func(r *stage.Request) { r.Send(&messages.Release{}) },
			messages.ReasonCancelled: func(r *stage.Request) { r.Send(&messages.Cancel{}) },
			messages.ReasonTimeout:   func(r *stage.Request) { r.Send(messages.Cancel{Reason: messages.ReasonTimeout}) },
			messages.ReasonOwnerGone: func(*stage.Request) { s.System.Root.Stop(owner) },
			messages.ReasonRevoked: func(*stage.Request) {
				_, err := s.Session.Ask(patient.Deadline(t), &messages.SendRevokeRequest{Path: "/a"})
				require.NoError(t, err)
			},
		} {
			owner = s.System.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
			r := s.SpawnProps(t, func(rec actors.LockOption) *actor.Props {
				wants := []messages.Acquire{{Path: "/a", Grace: time.Millisecond}, {Path: "/b"}}
				return actors.NewAll(s.Session, wants, rec, actors.WithOwner(owner))
			})
			stories.AwaitCount(t, at, "/b", 2)
			ends(r)
			rest := r.Finish(t)
			require.NotEmpty(t, rest, why)
			ended, cancelled := rest[len(rest)-1].(*messages.AllCancelled)
			require.True(t, cancelled, "%s: %+v", why, rest)
			require.Equal(t, why, ended.Reason)
			require.Equal(t, "/b", ended.Path)
			stories.AwaitNone(t, at, "/a")
			stories.AwaitCount(t, at, "/b", 1)
		}
		keeper.Send(&messages.Release{})
		stage.Notice[*messages.Released](t, keeper)
	})
}

// TestActorsOfSeveralLocksInAFullSession: two that want the same two locks of a session with room for two nodes stand in
// each other's way, until pauses tell them apart. One that never has room is refused after a few tries, and tells that
// once; one that pauses may be told to end.
func TestActorsOfSeveralLocksInAFullSession(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		both := []messages.Acquire{{Path: "/a"}, {Path: "/b"}}
		s := stage.New(t, at.Connect(), actors.WithMaxNodeBytes(2*stories.NodeBytes(at, "/a")))
		first, second := s.SpawnAll(t, both...), s.SpawnAll(t, both...)
		for then := second; first != nil; first, then = then, nil {
			toldSecond := chan any(nil)
			if then != nil {
				toldSecond = then.Told
			}
			var held any
			select {
			case held = <-first.Told:
			case held = <-toldSecond:
				first, then = then, first
			case <-time.After(patient.Bound):
				t.Fatal("they keep each other out")
			}
			require.IsType(t, &messages.AllHeld{}, held, "%+v", held)
			first.Send(&messages.Release{})
			stage.Notice[*messages.AllReleased](t, first)
			require.Empty(t, first.Finish(t))
		}
		stories.AwaitNone(t, at, "/a")

		narrow := stage.New(t, at.Connect(), actors.WithMaxNodeBytes(stories.NodeBytes(at, "/a")))
		refused := narrow.SpawnAll(t, both...)
		failed := stage.Notice[*messages.AllFailed](t, refused)
		require.Equal(t, messages.ReasonSessionFull, failed.Reason)
		require.Equal(t, "/b", failed.Path)
		require.Empty(t, refused.Finish(t))
		stories.AwaitNone(t, at, "/a")

		pausing := narrow.SpawnAll(t, both...)
		ended := endedWhilePausing(t, pausing)
		for try := 0; ended == nil; try++ { // the release crossed a refusal, which is the first reason then
			require.Less(t, try, 100, "it is never cancelled")
			pausing = narrow.SpawnAll(t, both...)
			ended = endedWhilePausing(t, pausing)
		}
		require.Equal(t, messages.ReasonReleased, ended.Reason)
		require.Empty(t, pausing.Finish(t))
		stories.AwaitNone(t, at, "/a")
	})
}

// endedWhilePausing releases a request that pauses, most likely, and returns how it was cancelled: nil if its last
// refusal, or one that crossed the release, was first.
func endedWhilePausing(t *testing.T, pausing *stage.Request) *messages.AllCancelled {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	pausing.Send(&messages.Release{})
	switch told := stage.Notice[any](t, pausing).(type) {
	case *messages.AllCancelled:
		return told
	case *messages.AllFailed:
		require.Equal(t, messages.ReasonSessionFull, told.Reason)
		require.Empty(t, pausing.Finish(t))
	default:
		require.Failf(t, "neither cancelled nor refused", "%T %+v", told, told)
	}
	return nil
}
