package faces

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The subject of these cells holds, and a request of another session waits behind it. At the end
// the waiter holds, with a greater token, and its node is the only one. Then the session of the
// subject has the lock again.
var holders = []struct {
	name    string
	grace   time.Duration
	happens func(t *testing.T, s *story)
	through []messages.State // after it held
	told    []notice         // after Held
	err     error            // what the lease says; nil where it was given back
}{
	{"gives back twice, and does not want it", 0,
		func(_ *testing.T, s *story) { s.subject.giveBack(); s.subject.giveBack(); s.subject.giveUp() },
		[]messages.State{messages.StateReleasing, messages.StateReleased},
		[]notice{released}, nil},

	{"asked by the face", 0, asked(revoke), askedAndReleased, askedThenReleased, nil},
	{"asked after other data", 0,
		func(t *testing.T, s *story) {
			for _, data := range []string{"a note", "", "unlocked"} {
				write(data)(t, s)
			}
			asked(write("unlock"))(t, s) // the watch is still there after all of them
		}, askedAndReleased, askedThenReleased, nil},
	{"gives back within the grace", scene.Bound,
		func(t *testing.T, s *story) {
			revoke(t, s)
			require.True(t, s.asked(t).Deadline.After(time.Now()))
			s.subject.giveBack()
		}, askedAndReleased, askedThenReleased, nil},
	{"grace runs out, asked as Curator does", 100 * time.Millisecond, forced(write("__REVOKE__")),
		askedAndReleased, askedThenForced, locks.ErrRevoked},
	{"grace runs out, asked by the face", 100 * time.Millisecond, forced(revoke),
		askedAndReleased, askedThenForced, locks.ErrRevoked},

	{"operator deletes its node while it is asked", scene.Bound,
		func(t *testing.T, s *story) {
			write("unlock")(t, s)
			s.asked(t)
			s.o.Remove(t, s.path, s.held.Node)
		},
		[]messages.State{messages.StateRevoking, messages.StateLost},
		[]notice{told(&messages.RevokeRequested{}), told(&messages.Lost{}, messages.ReasonNodeDeleted)}, locks.ErrLost},

	{"connection is cut", 0,
		func(t *testing.T, s *story) {
			s.proxy.Cut()
			again := s.reaches(t, messages.StateHeld, 2)
			require.Equal(t, s.held.Grant, again.Grant)
			s.subject.resumed(t)
			require.Equal(t, s.held.Node, s.o.Queue(t, s.path)[0])
			s.subject.giveBack()
		},
		[]messages.State{messages.StateRecovering, messages.StateHeld, messages.StateReleasing, messages.StateReleased},
		[]notice{told(&messages.Suspended{}), told(&messages.Resumed{}), released}, nil},
	{"session expires", 0,
		func(t *testing.T, s *story) { s.expire(t) },
		[]messages.State{messages.StateRecovering, messages.StateLost},
		[]notice{told(&messages.Suspended{}), lost}, locks.ErrLost},
	{"reply to the delete is lost", 0,
		func(t *testing.T, s *story) {
			fault := s.fault(rig.OpDelete, rig.DropReply)
			s.subject.giveBack()
			scene.AwaitFault[any](t, fault, nil)
		},
		[]messages.State{messages.StateReleasing, messages.StateRecovering, messages.StateReleased},
		[]notice{released}, nil},
	{"session expires, delete lost", 0, // the node goes with its session: the lock was given back, so its owner hears of a release
		func(t *testing.T, s *story) {
			fault := s.fault(rig.OpDelete, rig.CutBefore)
			s.proxy.Refuse(true)
			s.subject.giveBack()
			scene.AwaitFault[any](t, fault, nil)
			s.expire(t)
		},
		[]messages.State{messages.StateReleasing, messages.StateRecovering, messages.StateReleased},
		[]notice{released}, nil},
}

var (
	released = told(&messages.Released{}, messages.ReasonReleased)
	// A machine that is slow enough finds that the lease has run out before it can connect again.
	lost = told(&messages.Lost{}, messages.ReasonSessionExpired, messages.ReasonLeaseOver)

	askedAndReleased  = []messages.State{messages.StateRevoking, messages.StateReleasing, messages.StateReleased}
	askedThenReleased = []notice{told(&messages.RevokeRequested{}), released}
	askedThenForced   = []notice{told(&messages.RevokeRequested{}), told(&messages.Revoked{}),
		told(&messages.Released{}, messages.ReasonRevoked)}
)

func TestHolder(t *testing.T) {
	t.Parallel()
	for _, c := range holders {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
				s := newStory(t, f, at, "/held")
				s.subject = s.one.ask(t, messages.Acquire{Path: s.path, Grace: c.grace})
				s.held = s.subject.hold(t)
				require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
				_, stat, err := s.o.Get(at.Root() + s.path + "/" + s.held.Node)
				require.NoError(t, err)
				require.Equal(t, s.one.session(), stat.EphemeralOwner)
				require.Equal(t, s.held.Session, stat.EphemeralOwner)
				require.Equal(t, s.path, s.held.Path)
				require.Equal(t, stat.Czxid, s.held.Token.Zxid())
				next := s.ask(t, s.other)
				scene.Await(t, next.recorder(), messages.StateWatching)

				c.happens(t, s)
				s.subject.ended(t, c.err)
				got := next.hold(t)
				require.Greater(t, got.Token, s.held.Token)
				s.o.AwaitQueue(t, s.path, []string{got.Node})
				requireWent(t, s.subject, actorstest.InOrder(append([]messages.State{messages.StateCreating,
					messages.StateHeld}, c.through...)...)...)
				requireTold(t, s.subject, s.held.Grant, append([]notice{told(&messages.Held{})}, c.told...)...)
				again := s.ask(t, s.one)
				scene.Await(t, again.recorder(), messages.StateWatching)
				frees(t, next)
				regained := again.hold(t)
				require.Greater(t, regained.Token, got.Token)
				require.Equal(t, s.expired, regained.Session != s.held.Session)
				if s.expired {
					require.Greater(t, regained.Epoch, s.held.Epoch)
				}
				frees(t, again)
				scene.AwaitNone(t, at, s.path)
			})
		})
	}
}

// write writes into the subject's node.
func write(data string) func(*testing.T, *story) {
	return func(t *testing.T, s *story) { t.Helper(); s.o.Write(t, s.path, s.held.Node, data) }
}

// revoke asks by the face.
func revoke(t *testing.T, s *story) { t.Helper(); s.subject.revoke(t) }

// asked waits until the holder hears that somebody wants the lock, and gives the notice.
func (s *story) asked(t *testing.T) *messages.RevokeRequested {
	t.Helper()
	s.subject.asked(t)
	var found *messages.RevokeRequested
	scene.Eventually(t, func() bool {
		for _, n := range s.subject.recorder().Notices() {
			if n, is := n.(*messages.RevokeRequested); is {
				found = n
			}
		}
		return found != nil
	}, "the observer is never told")
	return found
}

// asked: the holder is told, keeps its node until it gives back, and is told nothing new when it is
// asked again.
func asked(ask func(*testing.T, *story)) func(*testing.T, *story) {
	return func(t *testing.T, s *story) {
		ask(t, s)
		require.Zero(t, s.asked(t).Deadline, "it has all the time it wants")
		require.Equal(t, s.held.Node, s.o.Queue(t, s.path)[0])
		s.subject.rests(t)
		ask(t, s)
		s.subject.giveBack()
	}
}

// forced: the lock is taken from the holder when its grace is over, and not before.
func forced(ask func(*testing.T, *story)) func(*testing.T, *story) {
	return func(t *testing.T, s *story) {
		ask(t, s)
		deadline := s.asked(t).Deadline
		require.False(t, deadline.IsZero())
		require.False(t, s.reaches(t, messages.StateReleasing, 1).At.Before(deadline), "the grace period was cut short")
	}
}
