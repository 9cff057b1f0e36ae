package gateway

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// adopted is a place to spawn from whose children belong to an actor on another node.
type adopted struct {
	actor.SpawnerContext
	parent *actor.PID
}

func (a adopted) Self() *actor.PID { return a.parent }

// adopt spawns a lock actor in the session's process that has its parent and its owner on another node,
// and is observed here.
func (s *stage) adopt(t *testing.T, path string, parent, owner *actor.PID) *actorstest.Recorder {
	t.Helper()
	r := actorstest.NewRecorder(s.inside.system)
	t.Cleanup(r.Close)
	system := s.inside.system
	props := actors.NewLock(s.session, messages.Acquire{Path: path},
		actors.WithRemote(wire.Pack), actors.WithOwner(owner), actors.WithObserver(r.PID()))
	_, err := actor.DefaultSpawner(system, system.ProcessRegistry.NextId(), props, adopted{system.Root, parent})
	require.NoError(t, err)
	return r
}

// TestParentOnOtherNode: a lock actor whose parent and owner are on another node tells the parent, and
// gives the lock back when either of them ends.
func TestParentOnOtherNode(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"parent", "owner"} {
		t.Run(ends, func(t *testing.T) {
			s := newStage(t, patient.Session)
			parent, told := s.outside.listener(t)
			owner, _ := s.outside.listener(t)
			here := s.adopt(t, "/adopted", parent, owner)
			held, lock := notice[*messages.Held](t, told)
			require.Equal(t, "/adopted", held.Path)
			require.NotZero(t, held.Token)
			require.Equal(t, s.inside.road.address(), lock.Address)
			leaves := map[string]*actor.PID{"parent": parent, "owner": owner}[ends]
			s.outside.system.Root.Stop(actor.NewPID(s.outside.system.Address(), leaves.Id))
			end, err := here.Await(patient.Deadline(t), messages.StateReleasing)
			require.NoError(t, err)
			require.Equal(t, messages.ReasonOwnerGone, end.Reason)
			_, err = here.Await(patient.Deadline(t), messages.StateReleased)
			require.NoError(t, err)
		})
	}
}

// TestParentOutOfReach: a cut between the nodes ends neither, though protoactor tells of both that they
// have terminated. The lock is given back once, and not before what they were promised has run out.
func TestParentOutOfReach(t *testing.T) {
	t.Parallel()
	outlasted(t, func(t *testing.T, s *stage) *actorstest.Recorder {
		parent, told := s.outside.listener(t)
		owner, _ := s.outside.listener(t)
		here := s.adopt(t, "/cut", parent, owner)
		if _, outlasts := s.cutOff(t, here, told); !outlasts {
			return here
		}
		_, err := here.Await(patient.Deadline(t), messages.StateReleased)
		require.NoError(t, err)
		var released int
		for _, moved := range here.Transitions() {
			if moved.To == messages.StateReleasing {
				released++
			}
		}
		require.Equal(t, 1, released)
		return here
	})
}
