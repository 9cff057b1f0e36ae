package matrix

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// conclude brings the scene to its end: the subject to the end that the cell demands, the next to the lock, and the
// queue to nothing.
func (s *fixture) conclude(t *testing.T) {
	t.Helper()
	demanded, refused := s.cell.course, s.cell.refused()
	if refused {
		s.subject.await(t, stFailed) // before the one that it would wait for gives back
	}
	switch {
	case s.front == nil:
	case s.cell.frontLost:
		scene.AwaitLost(t, s.front.lease)
		require.ErrorIs(t, s.front.lease.Unlock(scene.Deadline(t)), locks.ErrLost)
	default:
		s.awaitPlace(t)
		scene.GiveBack(t, s.front.lease)
	}
	holds := demanded.last() == stReleased && s.cell.request != remove
	if !holds {
		s.leaveBeside(t)
	}
	var token messages.Token
	switch {
	case holds:
		s.concludeHeld(t)
	case demanded.last() == stLost:
		s.concludeLost(t)
	case refused:
		require.ErrorIs(t, (<-s.subject.got).Err, s.cell.err)
	default: // it was giving back
		require.ErrorIs(t, <-s.unlock, s.cell.err)
		if s.cell.err == nil {
			require.ErrorIs(t, s.subject.lease.Unlock(scene.Deadline(t)), locks.ErrNotHeld)
		}
	}
	if s.subject.lease != nil {
		token = s.subject.lease.Token()
	}
	next := s.next.hold(t)
	require.Greater(t, next.Token(), token)
	synctest.Wait() // the guard of a contest whose node was deleted by itself goes behind that
	require.Empty(t, s.owned(t, s.subject), "nodes of a request that has ended")
	if s.cell.fault == quorumLost { // the next one's session has lapsed, too, and is closed beside the one that replaces it
		scene.Eventually(t, func() bool { return len(s.children(t, lockPath)) == 1 }, "nodes of a session that was replaced")
	}
	require.Equal(t, []string{next.Node()}, s.children(t, lockPath))
	s.compare(t)
	scene.GiveBack(t, next)
	time.Sleep(timeout + 2*tick) // everything late has come
	require.Empty(t, s.children(t, lockPath))
	s.compare(t)
}

// awaitPlace waits until the subject watches as it does last in its story.
func (s *fixture) awaitPlace(t *testing.T) {
	t.Helper()
	place := len(s.cell.course.story)
	for place > 0 && s.cell.course.story[place-1] != stWatching {
		place--
	}
	scene.Eventually(t, func() bool { return len(s.subject.rec.States()) >= place }, "the subject has found its place")
	synctest.Wait() // until what it has asked for there is answered
}

// concludeHeld: the subject holds, by one node, and gives the lock back to the next.
func (s *fixture) concludeHeld(t *testing.T) {
	t.Helper()
	lease := s.subject.hold(t)
	s.leaveBeside(t)
	if s.next.got == nil {
		s.next.wait(t)
	}
	time.Sleep(timeout + time.Millisecond) // of holding on, as before; a look of the next one, after a timeout, is over
	require.True(t, lease.Valid(), "%s: %v", actorstest.Story(s.subject.rec.States()), context.Cause(lease.Context()))
	require.NoError(t, lease.Context().Err())
	require.Equal(t, []string{lease.Node()}, s.owned(t, s.subject))
	require.Empty(t, s.next.got, "somebody else holds as well")
	scene.GiveBack(t, lease)
}

// concludeLost: the subject has lost the lock, for good.
func (s *fixture) concludeLost(t *testing.T) {
	t.Helper()
	lease := s.subject.hold(t)
	scene.AwaitLost(t, lease)
	require.False(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
	if s.next.got == nil {
		s.next.ask(t)
	}
	next := s.next.hold(t)
	if s.cell.before {
		// At the same time where the subject's own delete lets it in: it is sent after Lost is told.
		require.LessOrEqual(t, s.subject.await(t, stLost).At, s.next.await(t, stHeld).At, "the next was let in first")
	}
	require.True(t, next.Valid())
	require.False(t, lease.Valid())
}

// compare holds what the subject went through, and what it was told, against what the cell demands.
func (s *fixture) compare(t *testing.T) {
	t.Helper()
	c := s.cell
	scene.Eventually(t, func() bool {
		states := s.subject.rec.States()
		return len(states) > 0 && states[len(states)-1].Terminal()
	}, "the request has ended")
	synctest.Wait() // until the last notice has come, too
	transitions, went := s.subject.rec.Transitions(), s.subject.rec.States()
	if c.recipe == acquiring {
		went = looksOnce(went)
	}
	want := c.course
	if c.orElse.fits(went) {
		want = c.orElse
	}
	if (c.request == list || c.request == permits) && c.recipe == acquiring {
		// It goes to the servers right behind the create, so that the fault meets both. Then the cell demands how the
		// subject ends, and not its way.
		want.story = went
	}
	require.True(t, want.fits(went), "it went %s instead of %s", actorstest.Story(went), actorstest.Story(want.story))
	require.Equal(t, want.told(), kinds(scene.Notices(s.subject.rec)))
	if want.reason != "" {
		require.Equal(t, want.reason, transitions[len(transitions)-1].Reason)
	}
}

// looksOnce takes out of a story that the queue was listed again and nothing had come of it. How often a semaphore's
// waiter does so depends on when those before it write to their nodes.
func looksOnce(went []messages.State) (story []messages.State) {
	for _, state := range went {
		story = append(story, state)
		if n := len(story); n >= 4 && state == stWatching && story[n-2] == stListing && story[n-3] == stWatching {
			story = story[:n-2]
		}
	}
	return story
}

// kinds names the kinds of notices.
func kinds(notices []any) []string {
	all := []string{}
	for _, n := range notices {
		all = append(all, fmt.Sprintf("%T", n))
	}
	return all
}

// told follows from the story which notices the subject must have got, in order.
func (c course) told() []string {
	notices := []any{}
	var from messages.State // before the recovery
	granted := false
	for i, state := range c.story {
		before := messages.StateNone
		if i > 0 {
			before = c.story[i-1]
		}
		switch {
		case state == messages.StateHeld && !granted:
			granted = true
			notices = append(notices, &messages.Held{})
		case state == messages.StateRecovering && before.Holding():
			from = before
			notices = append(notices, &messages.Suspended{})
		case before == messages.StateRecovering && state.Holding() && from == state:
			notices = append(notices, &messages.Resumed{})
		case state == messages.StateRevoking:
			notices = append(notices, &messages.RevokeRequested{})
		case state == messages.StateReleased:
			notices = append(notices, &messages.Released{})
		case state == messages.StateLost:
			granted = false // the call may ask anew
			notices = append(notices, &messages.Lost{})
		case state == messages.StateCancelled:
			notices = append(notices, &messages.Cancelled{})
		case state == messages.StateFailed:
			notices = append(notices, &messages.Failed{})
		}
	}
	return kinds(notices)
}
