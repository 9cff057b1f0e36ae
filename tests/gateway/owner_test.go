package gateway

import (
	"slices"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// heard is a message with its sender.
type heard struct {
	message any
	sender  *actor.PID
}

// listener spawns an actor that passes on what it is told, and gives its address as other nodes
// know it.
func (n *node) listener(t *testing.T) (*actor.PID, <-chan heard) {
	t.Helper()
	told := make(chan heard, 100)
	pid := n.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage, *wire.Packed:
		default:
			told <- heard{msg, ctx.Sender()}
		}
	}))
	t.Cleanup(func() { n.system.Root.Stop(pid) })
	return actor.NewPID(n.road.address(), pid.Id), told
}

// notice waits for the next notice, and passes transitions over.
func notice[Notice any](t *testing.T, from <-chan heard) (Notice, *actor.PID) {
	t.Helper()
	for {
		h := await(t, from)
		if _, is := h.message.(*messages.Transition); is {
			continue
		}
		got, is := h.message.(Notice)
		require.True(t, is, "%T: %+v", h.message, h.message)
		return got, h.sender
	}
}

// recorded spawns a lock actor in the session's process, with a recorder beside the options.
func (s *stage) recorded(t *testing.T, path string, opts ...actors.LockOption) *actorstest.Recorder {
	t.Helper()
	r := actorstest.NewRecorder(s.inside.system)
	t.Cleanup(r.Close)
	opts = append(opts, actors.WithObserver(r.PID()), actors.WithRemote(wire.Pack))
	s.inside.system.Root.Spawn(actors.NewLock(s.session, messages.Acquire{Path: path}, opts...))
	return r
}

// TestNoticesCross: an owner on another node hears what its lock actor tells, from that, and sends
// it commands.
func TestNoticesCross(t *testing.T) {
	s := newStage(t, patient.Session)
	owner, told := s.outside.listener(t)
	here := s.recorded(t, "/abroad", actors.WithOwner(owner), actors.WithObserver(owner))

	first := await(t, told).message.(*messages.Transition)
	require.Equal(t, messages.StateCreating, first.To)
	require.Zero(t, first.At)
	held, lock := notice[*messages.Held](t, told)
	require.Equal(t, "/abroad", held.Path)
	require.Equal(t, s.session.ID(), held.Session)
	require.NotZero(t, held.Token)
	require.Zero(t, held.Until)
	require.Equal(t, messages.IDOf(lock), held.Actor)
	require.Equal(t, s.inside.road.address(), lock.Address)

	root := s.outside.system.Root
	root.Send(lock, wire.Pack(messages.Revoke{}))
	asked, _ := notice[*messages.RevokeRequested](t, told)
	require.Equal(t, held.Grant, asked.Grant)
	root.Send(lock, wire.Pack(&messages.Cancel{Reason: messages.ReasonTimeout}))
	released, sender := notice[*messages.Released](t, told)
	require.Equal(t, &messages.Released{Grant: held.Grant, Reason: messages.ReasonTimeout}, released)
	require.True(t, sender.Equal(lock))
	_, err := here.Await(patient.Deadline(t), messages.StateReleased)
	require.NoError(t, err)
}

// TestOwnerOnOtherNodeEnds: its end means Release at once.
func TestOwnerOnOtherNodeEnds(t *testing.T) {
	s := newStage(t, patient.Session)
	owner, told := s.outside.listener(t)
	here := s.recorded(t, "/ends", actors.WithOwner(owner), actors.WithObserver(owner))
	notice[*messages.Held](t, told)
	s.outside.system.Root.Stop(actor.NewPID(s.outside.system.Address(), owner.Id))
	end, err := here.Await(patient.Deadline(t), messages.StateReleasing)
	require.NoError(t, err)
	require.Equal(t, messages.ReasonOwnerGone, end.Reason)
}

// TestOwnerOutOfReach: a cut between the nodes is not the end of an owner. The lock is given back,
// and not before what the owner was promised has run out.
func TestOwnerOutOfReach(t *testing.T) {
	t.Parallel()
	outlasted(t, func(t *testing.T, s *stage) *actorstest.Recorder {
		owner, told := s.outside.listener(t)
		here := s.recorded(t, "/cut", actors.WithOwner(owner), actors.WithObserver(owner))
		if end, outlasts := s.cutOff(t, here, told); outlasts {
			require.Equal(t, s.session.ID(), end.Session, "the session is as it was")
		}
		return here
	})
}

// cutOff cuts the nodes apart when a lock is held. It gives how the lock is given back: for its owner, and
// not before what the owner was promised has run out. It is false where the lease was over first.
func (s *stage) cutOff(t *testing.T, here *actorstest.Recorder, told <-chan heard) (end messages.Transition, outlasts bool) {
	t.Helper()
	held, _ := notice[*messages.Held](t, told)
	promised := s.session.Clock(held.Epoch).Deadline()
	s.outside.road.cut(true)
	end, err := here.Await(patient.Deadline(t), messages.StateReleasing)
	if leaseOver(here) {
		return end, false
	}
	require.NoError(t, err)
	require.Equal(t, messages.ReasonOwnerGone, end.Reason)
	require.False(t, end.At.Before(promised), "released %v before the promise had run out", promised.Sub(end.At))
	return end, true
}

// outlasted runs a test whose session has to outlast what it waits for. On a machine that stands
// still, the lease of a short session may be over before. Then the test runs again, with a session
// twice as long.
func outlasted(t *testing.T, test func(*testing.T, *stage) *actorstest.Recorder) {
	t.Helper()
	for timeout := short; ; timeout *= 2 {
		again := false
		t.Run(timeout.String(), func(t *testing.T) { again = leaseOver(test(t, newStage(t, timeout))) })
		if !again {
			return
		}
		require.Less(t, timeout, patient.Session, "the lease of each session was over")
	}
}

// leaseOver reports whether a request has lost its lock because its session ended, or may have.
func leaseOver(r *actorstest.Recorder) bool {
	return slices.ContainsFunc(r.Transitions(), func(m messages.Transition) bool {
		return m.To == messages.StateLost &&
			(m.Reason == messages.ReasonLeaseOver || m.Reason == messages.ReasonSessionExpired)
	})
}
