package faces

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// The subject of these cells waits behind a holder of another session, and holds when the holder has
// given back.
var waiters = []struct {
	name    string
	happens func(t *testing.T, s *story, waits messages.Transition)
	keeps   bool // its node
	through []actorstest.Part
	told    []notice // after Held
}{
	{"connection is cut",
		func(t *testing.T, s *story, _ messages.Transition) {
			s.proxy.Cut()
			s.reaches(t, messages.StateWatching, 2)
		}, true,
		actorstest.InOrder(messages.StateCreating, messages.StateListing, messages.StateWatching, messages.StateRecovering,
			messages.StateListing, messages.StateWatching, messages.StateHeld, messages.StateReleasing, messages.StateReleased),
		[]notice{released}},
	{"session expires",
		func(t *testing.T, s *story, waits messages.Transition) {
			s.expire(t)
			again := s.reaches(t, messages.StateWatching, 2)
			require.NotEqual(t, waits.Node, again.Node)
			require.NotEqual(t, waits.Session, again.Session)
			require.Equal(t, []string{s.held.Node, again.Node}, s.o.Queue(t, s.path))
		}, false,
		append(stage.Waited(messages.StateRecovering),
			stage.Waited(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...),
		[]notice{released}},
	{"asked while it waits",
		func(t *testing.T, s *story, waits messages.Transition) {
			s.subject.revoke(t)
			s.o.Write(t, s.path, waits.Node, "unlock") // which is found when it holds
		}, true,
		stage.Waited(messages.StateHeld, messages.StateRevoking, messages.StateReleasing, messages.StateReleased),
		[]notice{told(&messages.RevokeRequested{}), released}},
}

func TestWaiter(t *testing.T) {
	t.Parallel()
	for _, c := range waiters {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
				s := newStory(t, f, at, "/waited")
				holder := s.ask(t, s.other)
				s.held = holder.hold(t)
				s.subject = s.ask(t, s.one)
				waits := s.reaches(t, messages.StateWatching, 1)
				require.Equal(t, []string{s.held.Node, waits.Node}, s.o.Queue(t, s.path))

				c.happens(t, s, waits)
				require.Equal(t, s.held.Node, s.o.Queue(t, s.path)[0])
				s.subject.rests(t)
				newest := s.reaches(t, messages.StateWatching, len(s.all(messages.StateWatching)))
				frees(t, holder)
				got := s.subject.hold(t)
				require.Greater(t, got.Token, s.held.Token)
				require.Equal(t, newest.Node, got.Node)
				require.Equal(t, newest.Session, got.Session)
				require.Equal(t, c.keeps, waits.Node == got.Node)
				require.Equal(t, s.one.session(), got.Session)
				s.o.AwaitQueue(t, s.path, []string{got.Node})
				if len(c.told) > 1 {
					s.subject.asked(t)
				}
				frees(t, s.subject)
				requireWent(t, s.subject, c.through...)
				requireTold(t, s.subject, got.Grant, append([]notice{told(&messages.Held{})}, c.told...)...)
				stories.AwaitNone(t, at, s.path)
			})
		})
	}
}

// The subject of these cells does not get the lock. No node of it stays, and the holder goes on.
var refused = []struct {
	name    string
	want    messages.Acquire
	happens func(t *testing.T, s *story)
	through []actorstest.Part
	told    notice
	err     error
}{
	{"gives up", messages.Acquire{},
		func(t *testing.T, s *story) {
			node := s.reaches(t, messages.StateWatching, 1).Node
			require.Equal(t, []string{s.held.Node, node}, s.o.Queue(t, s.path))
			s.subject.giveUp()
		},
		stage.Waited(messages.StateReleasing, messages.StateCancelled),
		told(&messages.Cancelled{}, messages.ReasonCancelled), context.Canceled},
	{"gives up at once", messages.Acquire{}, // the node may be made or not
		func(_ *testing.T, s *story) { s.subject.giveUp() },
		[]actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Whatever(),
			actorstest.Then(messages.StateCancelled)},
		told(&messages.Cancelled{}, messages.ReasonCancelled), context.Canceled},
	{"its time is over", messages.Acquire{Timeout: 100 * time.Millisecond}, func(*testing.T, *story) {},
		[]actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Whatever(),
			actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled)},
		told(&messages.Cancelled{}, messages.ReasonTimeout), context.DeadlineExceeded},
	{"tries", messages.Acquire{Try: true}, func(*testing.T, *story) {},
		[]actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
			actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled)},
		told(&messages.Cancelled{}, messages.ReasonNotAcquired), locks.ErrNotAcquired},
}

// TestRefused: behind a holder of another session, and behind one of its own.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
				s := newStory(t, f, at, "/busy")
				for _, holds := range []asker{s.other, s.one} {
					holder := s.ask(t, holds)
					s.held = holder.hold(t)
					for range 3 {
						want := c.want
						want.Path = s.path
						s.subject = s.one.ask(t, want)
						c.happens(t, s)
						s.subject.ended(t, c.err)
						requireWent(t, s.subject, c.through...)
						require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
						requireTold(t, s.subject, s.end(t), c.told)
					}
					frees(t, holder)
				}
				s.subject = s.one.ask(t, messages.Acquire{Path: s.path, Try: true})
				require.Greater(t, s.subject.hold(t).Token, s.held.Token)
				frees(t, s.subject)
			})
		})
	}
}

// TestTimeIsOverAfterTheGrant: a holder has all the time it wants. Another request, with a longer
// timeout that begins later, is the clock.
func TestTimeIsOverAfterTheGrant(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/in-time")
		// Where the machine is so slow that the grant comes too late, a longer timeout is tried.
		for timeout := time.Second; ; timeout *= 2 {
			s.subject = s.one.ask(t, messages.Acquire{Path: s.path, Timeout: timeout})
			if _, err := s.subject.recorder().Await(patient.Deadline(t), messages.StateHeld); err != nil {
				require.Less(t, timeout, patient.Bound, err)
				continue
			}
			s.held = s.subject.hold(t)
			clock := s.one.ask(t, messages.Acquire{Path: s.path, Timeout: timeout + 50*time.Millisecond})
			clock.ended(t, context.DeadlineExceeded)
			patient.Await(t, clock.recorder(), messages.StateCancelled)
			require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
			s.subject.rests(t)
			frees(t, s.subject)
			requireWent(t, s.subject, stage.Straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
			return
		}
	})
}

// TestGivingUpInTheMiddle: the predecessor of the last one goes, and the last one must not take
// that for its turn.
func TestGivingUpInTheMiddle(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/middle")
		holder := s.ask(t, s.one)
		s.held = holder.hold(t)
		middle := s.ask(t, s.other)
		patient.Await(t, middle.recorder(), messages.StateWatching)
		s.subject = s.ask(t, s.one)
		node := s.reaches(t, messages.StateWatching, 1).Node

		middle.giveUp()
		middle.ended(t, context.Canceled)
		s.reaches(t, messages.StateWatching, 2)
		require.Equal(t, []string{s.held.Node, node}, s.o.Queue(t, s.path))
		s.subject.rests(t)
		frees(t, holder)
		require.Equal(t, node, s.subject.hold(t).Node)
		frees(t, s.subject)
	})
}

// short is a session timeout for tests that need a heartbeat or a slow re-list to find something,
// which takes them a sixth of it, or all of it.
const short = 12 * time.Second

// TestOperatorDeletesAWaitersNode: nothing tells a waiter of that but its session's heartbeat, or
// the slow re-list. It queues again, behind the others, and is granted in the end.
func TestOperatorDeletesAWaitersNode(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		others, o := f.open(t, at.Connect(), patient.Session), stories.Look(t, at)
		for _, c := range []struct {
			name  string
			alone bool // whether the waiter's session has nothing else to check
		}{{"found by the heartbeat", true}, {"found by the slow re-list", false}} {
			t.Run(c.name, func(t *testing.T) {
				holder := others.ask(t, messages.Acquire{Path: "/pruned"})
				held := holder.hold(t)
				from := f.open(t, at.Connect(), short)
				if !c.alone { // the heartbeat checks a holder's node, if there is one
					from.ask(t, messages.Acquire{Path: "/elsewhere"}).hold(t)
				}
				waiter := from.ask(t, messages.Acquire{Path: "/pruned"})
				node := patient.Await(t, waiter.recorder(), messages.StateWatching).Node
				behind := others.ask(t, messages.Acquire{Path: "/pruned"})
				patient.Await(t, behind.recorder(), messages.StateWatching)
				o.Remove(t, "/pruned", node)
				again, err := waiter.recorder().AwaitNth(patient.Deadline(t), messages.StateCreating, 2)
				require.NoError(t, err)
				require.Equal(t, messages.StateRecovering, again.From)
				stories.AwaitCount(t, at, "/pruned", 3)
				require.Equal(t, held.Node, o.Queue(t, "/pruned")[0])

				frees(t, holder)
				behind.hold(t)
				frees(t, behind)
				got := waiter.hold(t)
				require.NotEqual(t, node, got.Node)
				patient.Eventually(t, func() bool {
					return slices.Equal(o.Queue(t, "/pruned"), []string{got.Node}) || // or a slow machine has lost it
						slices.Contains(waiter.recorder().States(), messages.StateLost)
				}, "the queue never was %s", got.Node)
				waiter.giveBack()
				pattern := stage.Waited(messages.StateRecovering, messages.StateCreating)
				requireWent(t, waiter, append(pattern, actorstest.Whatever(), actorstest.Then(messages.StateHeld),
					actorstest.Whatever())...)
			})
		}
	})
}
