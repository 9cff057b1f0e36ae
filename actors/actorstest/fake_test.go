package actorstest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// owner spawns lock actors from a Provider, and passes on what it is told. It spawns the next when it
// is sent an Acquire, and passes commands on to the newest.
func owner(system *actor.ActorSystem, from actors.Provider, opts ...actors.LockOption) (pid *actor.PID, told <-chan any) {
	all := make(chan any, 100)
	var lock *actor.PID
	pid = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case messages.Acquire:
			lock = ctx.Spawn(actors.NewLock(from, msg, opts...))
		case *messages.Release, *messages.Cancel, *messages.Revoke, *messages.Check:
			ctx.Send(lock, msg)
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			all <- msg
		}
	}))
	return pid, all
}

func next[T any](t *testing.T, told <-chan any) T {
	t.Helper()
	var want T
	select {
	case msg := <-told:
		got, is := msg.(T)
		require.True(t, is, "%T %+v instead of %T", msg, msg, want)
		return got
	case <-time.After(time.Minute):
		t.Fatalf("no %T came", want)
	}
	return want
}

// story is what befalls a lock actor. A real server does it in one test, and a Fake in the other.
type story struct {
	name string
	want messages.Acquire
	tell func(lock *actorstest.FakeLock)
	real func(t *testing.T, kit *actorstest.Kit, after any) // what the server does after a notice; nil before the first
	send []any                                              // by the owner, when it holds; or at once where tell does not grant
	told []any                                              // the kinds of notices
	end  messages.Reason
}

var stories = []story{
	{name: "released", tell: (*actorstest.FakeLock).Hold, send: []any{&messages.Release{}},
		told: []any{&messages.Held{}, &messages.Released{}}, end: messages.ReasonReleased},
	{name: "held and cancelled", tell: (*actorstest.FakeLock).Hold, send: []any{&messages.Cancel{}},
		told: []any{&messages.Held{}, &messages.Released{}}, end: messages.ReasonCancelled},
	{name: "checked", tell: (*actorstest.FakeLock).Hold, send: []any{&messages.Check{}},
		told: []any{&messages.Held{}, &messages.Checked{}}},
	{name: "asked for", tell: (*actorstest.FakeLock).Hold, send: []any{&messages.Revoke{}},
		told: []any{&messages.Held{}, &messages.RevokeRequested{}}},
	{name: "suspended and resumed", tell: func(lock *actorstest.FakeLock) { lock.Hold(); lock.Suspend(); lock.Resume() },
		real: func(_ *testing.T, kit *actorstest.Kit, after any) {
			if _, held := after.(*messages.Held); held {
				kit.Server.Replica(0).DropClients()
			}
		},
		told: []any{&messages.Held{}, &messages.Suspended{}, &messages.Resumed{}}},
	{name: "expired",
		tell: func(lock *actorstest.FakeLock) { lock.Hold(); lock.Suspend(); lock.Lose(messages.ReasonSessionExpired) },
		real: func(t *testing.T, kit *actorstest.Kit, after any) {
			switch after.(type) {
			case *messages.Held:
				kit.Server.Replica(0).Refuse(true)
				kit.Server.Replica(0).DropClients()
			case *messages.Suspended:
				require.NoError(t, kit.Server.Expire(kit.Session.ID()))
				kit.Server.Replica(0).Refuse(false)
			}
		},
		told: []any{&messages.Held{}, &messages.Suspended{}, &messages.Lost{}}, end: messages.ReasonSessionExpired},
	{name: "broken", tell: func(lock *actorstest.FakeLock) { lock.Hold(); lock.Lose(messages.ReasonNodeDeleted) },
		real: func(t *testing.T, kit *actorstest.Kit, after any) {
			held, is := after.(*messages.Held)
			if !is {
				return
			}
			queue, err := kit.Session.Ask(t.Context(), &messages.ReadQueue{Path: held.Path})
			require.NoError(t, err)
			_, err = kit.Session.Ask(t.Context(), &messages.Break{Contender: queue.(*messages.Queue).Contenders[0]})
			require.NoError(t, err)
		},
		told: []any{&messages.Held{}, &messages.Lost{}}, end: messages.ReasonNodeDeleted},
	{name: "waits", tell: func(lock *actorstest.FakeLock) { lock.Tell(&messages.Behind{}); lock.Hold() }, real: another(),
		told: []any{&messages.Behind{}, &messages.Held{}}},
	{name: "bad input", want: messages.Acquire{Path: "no path"}, tell: func(*actorstest.FakeLock) {},
		told: []any{&messages.Failed{}}, end: messages.ReasonBadInput},
}

// another has another lock actor hold first, and give back when it is known who waits behind it.
func another() func(*testing.T, *actorstest.Kit, any) {
	var before *actor.PID
	return func(t *testing.T, kit *actorstest.Kit, after any) {
		switch after.(type) {
		case nil:
			recorder := actorstest.NewRecorder(kit.System)
			before = kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/story"},
				actors.WithObserver(recorder.PID())))
			_, err := recorder.Await(t.Context(), messages.StateHeld)
			require.NoError(t, err)
		case *messages.Behind:
			kit.System.Root.Send(before, &messages.Release{})
		}
	}
}

// play plays a story with a Provider, and gives the notices that the owner was told, and the states
// that the lock actor went through.
func (s story) play(t *testing.T, system *actor.ActorSystem, from actors.Provider, after func(notice any)) ([]any, []messages.State) {
	if s.want.Path == "" {
		s.want.Path = "/story"
	}
	observed := actorstest.Observed(from)
	pid, told := owner(system, observed)
	system.Root.Send(pid, s.want)
	var all []any
	for range s.told {
		msg := next[any](t, told)
		all = append(all, msg)
		after(msg)
		if _, held := msg.(*messages.Held); held {
			for _, command := range s.send {
				system.Root.Send(pid, command)
			}
		}
	}
	recorder, err := observed.Await(t.Context(), s.want.Path)
	require.NoError(t, err)
	_, err = actorstest.AwaitNotice(t.Context(), recorder, func(notice any) bool { return notice == all[len(all)-1] })
	require.NoError(t, err)
	require.Equal(t, all, recorder.Notices())
	return all, slices.DeleteFunc(recorder.States(), func(s messages.State) bool { return s == messages.StateListing })
}

// TestFakeIsLikeASession: the lock actors of a Fake tell what those of a session tell, in the same
// order, for the same reason, and go through the same states.
func TestFakeIsLikeASession(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			kit := actorstest.Start(t)
			if s.real == nil {
				s.real = func(*testing.T, *actorstest.Kit, any) {}
			}
			s.real(t, kit, nil)
			really, states := s.play(t, kit.System, kit.Session, func(notice any) { s.real(t, kit, notice) })
			faked, fakeStates := s.play(t, kit.System, &actorstest.Fake{Begin: s.tell}, func(any) {})
			require.Equal(t, states, fakeStates)
			for i, want := range s.told {
				require.IsType(t, want, really[i])
				require.IsType(t, want, faked[i])
			}
			for _, notices := range [][]any{really, faked} {
				_, why := messages.EndOf(notices[len(notices)-1])
				require.Equal(t, s.end, why)
			}
		})
	}
}

// TestFakeGivenUp: a request that does not hold is cancelled by Release as by Cancel; a real one, too.
func TestFakeGivenUp(t *testing.T) {
	kit, fake := actorstest.Start(t), new(actorstest.Fake)
	holder := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/a"}))
	defer kit.System.Root.Stop(holder)
	for command, want := range map[any]messages.Reason{
		&messages.Release{}: messages.ReasonReleased,
		&messages.Cancel{}:  messages.ReasonCancelled,
		&messages.Cancel{Reason: messages.ReasonTimeout}: messages.ReasonTimeout,
	} {
		for _, from := range []actors.Provider{kit.Session, fake} {
			pid, told := owner(kit.System, from)
			kit.System.Root.Send(pid, messages.Acquire{Path: "/a"})
			kit.System.Root.Send(pid, command)
			last := next[any](t, told)
			if _, waited := last.(*messages.Behind); waited {
				last = next[any](t, told)
			}
			require.Equal(t, want, last.(*messages.Cancelled).Reason, "%T of %T", command, from)
		}
	}
}

// TestFakeGrants: tokens grow, each grant names its lock actor, and its lease is valid until it is
// lost. Where an operator has deleted the node, only the hold is lost.
func TestFakeGrants(t *testing.T) {
	system, fake := actor.NewActorSystem(quiet), new(actorstest.Fake)
	defer system.Shutdown()
	pid, told := owner(system, fake)
	var last messages.Token
	for _, reason := range []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver, messages.ReasonNodeDeleted} {
		system.Root.Send(pid, messages.Acquire{Path: "/a"})
		lock, err := fake.Await(t.Context(), "/a")
		require.NoError(t, err)
		lock.Hold()
		held := next[*messages.Held](t, told)
		require.Greater(t, held.Token, last)
		last = held.Token
		require.Equal(t, messages.IDOf(lock.PID()), held.Actor)
		clock := fake.Clock(held.Epoch)
		require.True(t, clock.Unbroken(held.Term))
		require.Greater(t, time.Until(held.Until), time.Hour)
		lock.Suspend()
		require.WithinDuration(t, held.Until, next[*messages.Suspended](t, told).Until, time.Minute)
		require.True(t, clock.Unbroken(held.Term))
		lock.Lose(reason)
		require.Equal(t, held.Grant, next[*messages.Lost](t, told).Grant)
		require.Equal(t, reason == messages.ReasonNodeDeleted, clock.Unbroken(held.Term))
		lock.Resume() // it has ended
		require.Empty(t, told)
	}
	require.False(t, fake.Clock(0).Valid())
	require.False(t, fake.Clock(4).Valid())
}

// TestFakeOwnerEnds: a lock actor at the root is given back when its owner ends, and one that is a
// child is stopped with it.
func TestFakeOwnerEnds(t *testing.T) {
	kit, fake := actorstest.Start(t), &actorstest.Fake{Begin: (*actorstest.FakeLock).Hold}
	pid, told := owner(kit.System, fake)
	kit.System.Root.Send(pid, messages.Acquire{Path: "/child"})
	next[*messages.Held](t, told)
	kit.System.Root.Spawn(actors.NewLock(fake, messages.Acquire{Path: "/root"}, actors.WithOwner(pid)))
	kit.System.Root.Stop(pid)

	root, err := fake.Await(t.Context(), "/root")
	require.NoError(t, err)
	released, err := actorstest.AwaitNotice[*messages.Released](t.Context(), root.Recorder)
	require.NoError(t, err)
	require.Equal(t, messages.ReasonOwnerGone, released.Reason)
	child, err := fake.Await(t.Context(), "/child")
	require.NoError(t, err)
	stopped, err := child.Await(t.Context(), messages.StateReleasing)
	require.NoError(t, err)
	require.Equal(t, messages.ReasonStopped, stopped.Reason)
	_, err = child.Await(t.Context(), messages.StateReleased)
	require.EqualError(t, err, "awaiting released: the request ended: creating → held → releasing, told Held")
}

// TestFakeSingleton: a singleton runs its actor under a lock of a Fake, and stops it when that is lost.
func TestFakeSingleton(t *testing.T) {
	kit, fake := actorstest.Start(t, embedded.WithReplicas(1)), new(actorstest.Fake)
	events := make(chan any, 10)
	kit.System.Root.Spawn(actors.NewSingleton(actorstest.Observed(fake), messages.Acquire{Path: "/one"},
		actor.PropsFromFunc(func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actors.Activation:
				events <- msg.Token > 0
			case *actor.Stopped:
				events <- "stopped"
			}
		})))
	lock, err := fake.Await(t.Context(), "/one")
	require.NoError(t, err)
	lock.Hold()
	require.True(t, next[bool](t, events))
	lock.Lose(messages.ReasonSessionExpired)
	require.Equal(t, "stopped", next[string](t, events))
	again, err := fake.Await(t.Context(), "/one")
	require.NoError(t, err)
	again.Hold()
	require.True(t, next[bool](t, events))
}
