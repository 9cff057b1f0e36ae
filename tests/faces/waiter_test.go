package faces

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
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
	{"session expires",
		func(t *testing.T, s *story, waits messages.Transition) {
			s.expire(t)
			again := s.reaches(t, messages.StateWatching, 2)
			require.NotEqual(t, waits.Node, again.Node)
			require.NotEqual(t, waits.Session, again.Session)
			require.Equal(t, []string{s.held.Node, again.Node}, s.o.Queue(t, s.path))
		}, false,
		append(scene.Waited(messages.StateRecovering),
			scene.Waited(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...),
		[]notice{released}},
	{"asked while it waits",
		func(t *testing.T, s *story, waits messages.Transition) {
			s.subject.revoke(t)
			s.o.Write(t, s.path, waits.Node, "unlock") // which is found when it holds
		}, true,
		scene.Waited(messages.StateHeld, messages.StateRevoking, messages.StateReleasing, messages.StateReleased),
		[]notice{told(&messages.RevokeRequested{}), released}},
}

func TestWaiter(t *testing.T) {
	t.Parallel()
	for _, c := range waiters {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
				s := newStory(t, f, at, "/waited")
				holder := s.ask(t, s.other)
				s.held = holder.hold(t)
				s.subject = s.ask(t, s.one)
				waits := s.reaches(t, messages.StateWatching, 1)
				require.Equal(t, []string{s.held.Node, waits.Node}, s.o.Queue(t, s.path))

				c.happens(t, s, waits)
				require.Equal(t, s.held.Node, s.o.Queue(t, s.path)[0])
				s.subject.rests(t)
				went := s.subject.recorder().Transitions()
				newest := went[len(went)-1]
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
				scene.AwaitNone(t, at, s.path)
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
		scene.Waited(messages.StateReleasing, messages.StateCancelled),
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
			eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
				s := newStory(t, f, at, "/busy")
				for _, holds := range []asker{s.other, s.one} {
					holder := s.ask(t, holds)
					s.held = holder.hold(t)
					want := c.want
					want.Path = s.path
					s.subject = s.one.ask(t, want)
					c.happens(t, s)
					s.subject.ended(t, c.err)
					requireWent(t, s.subject, c.through...)
					require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
					went := s.subject.recorder().Transitions()
					last := went[len(went)-1].Grant // what is known of a node that it has had
					require.Equal(t, s.path, last.Path)
					requireTold(t, s.subject, last, c.told)
					frees(t, holder)
				}
				s.subject = s.one.ask(t, messages.Acquire{Path: s.path, Try: true})
				require.Greater(t, s.subject.hold(t).Token, s.held.Token)
				frees(t, s.subject)
			})
		})
	}
}
