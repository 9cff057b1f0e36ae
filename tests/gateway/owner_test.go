package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// adopted is a place to spawn from whose children belong to an actor on another node.
type adopted struct {
	actor.SpawnerContext
	parent *actor.PID
}

func (a adopted) Self() *actor.PID { return a.parent }

// adopt spawns a lock actor in the session's process that has its owner on another node, and its parent where one is named.
// It is observed here.
func (s *stage) adopt(t *testing.T, parent, owner *actor.PID, opts ...actors.LockOption) *actorstest.Recorder {
	t.Helper()
	system := s.inside.system
	r := actorstest.NewRecorder(system)
	t.Cleanup(r.Close)
	props := actors.NewLock(s.session, messages.Acquire{Path: "/abroad"}, append(opts,
		actors.WithRemote(wire.Pack), actors.WithOwner(owner), actors.WithObserver(r.PID()))...)
	if parent == nil {
		system.Root.Spawn(props)
		return r
	}
	_, err := actor.DefaultSpawner(system, system.ProcessRegistry.NextId(), props, adopted{system.Root, parent})
	require.NoError(t, err)
	return r
}

// TestNoticesCross: an owner on another node hears what its lock actor tells, from that, and sends
// it commands.
func TestNoticesCross(t *testing.T) {
	s := newStage(t, scene.Session)
	owner, told := s.outside.listener(t)
	here := s.adopt(t, nil, owner, actors.WithObserver(owner))

	first := scene.Receive(t, told).message.(*messages.Transition)
	require.Equal(t, messages.StateCreating, first.To)
	require.Zero(t, first.At)
	held, lock := notice[*messages.Held](t, told)
	require.Equal(t, "/abroad", held.Path)
	require.Equal(t, s.session.ID(), held.Session)
	require.NotZero(t, held.Token)
	require.Zero(t, held.Until)
	require.Equal(t, messages.IDOf(lock), held.Actor)
	require.Equal(t, s.inside.road.address, lock.Address)

	root := s.outside.system.Root
	root.Send(lock, wire.Pack(messages.Revoke{}))
	asked, _ := notice[*messages.RevokeRequested](t, told)
	require.Equal(t, held.Grant, asked.Grant)
	root.Send(lock, wire.Pack(&messages.Cancel{Reason: messages.ReasonTimeout}))
	released, sender := notice[*messages.Released](t, told)
	require.Equal(t, &messages.Released{Grant: held.Grant, Reason: messages.ReasonTimeout}, released)
	require.True(t, sender.Equal(lock))
	scene.Await(t, here, messages.StateReleased)
}

// TestOwnersOnOtherNodesEnd: a lock actor whose parent and owner are on another node tells the parent,
// and gives the lock back at once when either of them ends.
func TestOwnersOnOtherNodesEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene.Session)
	end := func(here *actorstest.Recorder, leaves *actor.PID) {
		t.Helper()
		s.outside.system.Root.Stop(actor.NewPID(s.outside.system.Address(), leaves.Id))
		require.Equal(t, messages.ReasonOwnerGone, scene.Await(t, here, messages.StateReleasing).Reason)
		scene.Await(t, here, messages.StateReleased)
	}
	parent, told := s.outside.listener(t)
	owner, _ := s.outside.listener(t)
	here := s.adopt(t, parent, owner)
	notice[*messages.Held](t, told)
	end(here, parent)
	parent, _ = s.outside.listener(t)
	here = s.adopt(t, parent, owner)
	scene.Await(t, here, messages.StateHeld)
	end(here, owner)
	owner, _ = s.outside.listener(t)
	here = s.adopt(t, nil, owner)
	scene.Await(t, here, messages.StateHeld)
	end(here, owner)
}

// TestOwnersOutOfReach: a cut between the nodes ends neither parent nor owner, though protoactor tells of both that they
// have terminated. The lock is given back once, and not before what they were promised has run out.
//
// On a machine that stands still, the lease of a short session may be over before. Then it is tried again, with a
// session twice as long.
func TestOwnersOutOfReach(t *testing.T) {
	t.Parallel()
	for timeout, lasted := short, false; !lasted; timeout *= 2 {
		require.LessOrEqual(t, timeout, scene.Session, "the lease of each session was over")
		// A subtest puts its nodes back before the next one takes some.
		if !t.Run(timeout.String(), func(t *testing.T) { lasted = outOfReach(t, timeout) }) {
			return
		}
	}
}

// outOfReach reports whether the lease lasted until the lock was given back.
func outOfReach(t *testing.T, timeout time.Duration) (lasted bool) {
	s := newStage(t, timeout)
	parent, told := s.outside.listener(t)
	owner, _ := s.outside.listener(t)
	here := s.adopt(t, parent, owner)
	held, _ := notice[*messages.Held](t, told)
	promised := s.session.Clock(held.Epoch).Deadline()
	s.outside.road.be(scene.Down)
	end, err := here.Await(scene.Deadline(t), messages.StateReleasing)
	if slices.Contains(here.States(), messages.StateLost) {
		return false
	}
	require.NoError(t, err)
	require.Equal(t, messages.ReasonOwnerGone, end.Reason)
	require.Equal(t, s.session.ID(), end.Session, "the session is as it was")
	require.False(t, end.At.Before(promised), "released %v before the promise had run out", promised.Sub(end.At))
	scene.Await(t, here, messages.StateReleased)
	require.NoError(t, actorstest.Match(here.States(), actorstest.InOrder(messages.StateCreating, messages.StateHeld,
		messages.StateReleasing, messages.StateReleased)...))
	return true
}
