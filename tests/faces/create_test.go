package faces

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The create of these cells meets a fault. Its request holds all the same, with the only node there
// is.
var creates = []struct {
	name    string
	action  rig.Action
	expires bool // the session ends before the create can be sent again
	through []actorstest.Part
}{
	{"reply to the create is lost", rig.DropReply, false,
		actorstest.InOrder(messages.StateCreating, messages.StateRecovering, messages.StateListing, messages.StateHeld)},
	{"session expires, create lost", rig.CutBefore, true, createsAgain},
}

var createsAgain = []actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
	actorstest.Then(messages.StateRecovering), actorstest.Then(messages.StateCreating),
	actorstest.Maybe(messages.StateListing), actorstest.Then(messages.StateHeld)}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, c := range creates {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
				s := newStory(t, f, at, "/made")
				warm := s.ask(t, s.one) // so that the create is the lock's own
				before := warm.hold(t)
				frees(t, warm)
				session := s.one.session()

				fault := s.fault(rig.OpCreate, c.action)
				s.proxy.Refuse(c.expires)
				s.subject = s.ask(t, s.one)
				scene.AwaitFault[any](t, fault, nil)
				require.Equal(t, messages.StateCreating, s.reaches(t, messages.StateRecovering, 1).From)
				if c.expires {
					s.expire(t, func() { require.Empty(t, s.o.Queue(t, s.path)) })
				}
				s.held = s.subject.hold(t)
				require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
				require.Greater(t, s.held.Token, before.Token)
				require.Equal(t, c.expires, s.held.Session != session)
				frees(t, s.subject)
				requireWent(t, s.subject, append(c.through,
					actorstest.InOrder(messages.StateReleasing, messages.StateReleased)...)...)
				requireTold(t, s.subject, s.held.Grant, told(&messages.Held{}), released)
				require.Empty(t, s.o.Queue(t, s.path))
			})
		})
	}
}

// TestSessionIsClosed: a holder has lost the lock, a waiter fails, and the next one, of another
// session, holds. Nothing can be asked for any more.
func TestSessionIsClosed(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
		s := newStory(t, f, at, "/closed")
		holder := s.ask(t, s.one)
		s.held = holder.hold(t)
		busy := s.other.ask(t, messages.Acquire{Path: "/busy"})
		busy.hold(t)
		waiters := []request{s.one.ask(t, messages.Acquire{Path: "/busy"})}
		if f.name != "gateway" { // where each request ends by itself, and this one may hold before
			waiters = append(waiters, s.ask(t, s.one))
		}
		for _, waiter := range waiters {
			scene.Await(t, waiter.recorder(), messages.StateWatching)
		}
		next := s.ask(t, s.other)
		scene.Await(t, next.recorder(), messages.StateWatching)

		s.one.close(t)
		holder.ended(t, locks.ErrLost)
		for _, waiter := range waiters {
			waiter.ended(t, locks.ErrClosed)
		}
		if f.name != "locks" { // a client's own actor system ends with it, and the recorder there
			requireTold(t, holder, s.held.Grant, told(&messages.Held{}),
				told(&messages.Lost{}, messages.ReasonSessionClosed))
			for _, waiter := range waiters {
				requireTold(t, waiter, scene.Await(t, waiter.recorder(), messages.StateFailed).Grant,
					told(&messages.Failed{}, messages.ReasonSessionClosed))
			}
		}
		require.Greater(t, next.hold(t).Token, s.held.Token)
		scene.AwaitCount(t, at, s.path, 1)
		late := s.ask(t, s.one)
		late.ended(t, locks.ErrClosed)
		if late, is := late.(*spawned); is { // a call is refused before it becomes a request
			requireTold(t, late, messages.Grant{Path: s.path, Actor: messages.IDOf(late.r.Lock)},
				told(&messages.Failed{}, messages.ReasonSessionClosed))
		}
		scene.AwaitCount(t, at, s.path, 1)
		frees(t, next)
		frees(t, busy)
	})
}

// TestBadInput: the request ends before it begins, and the servers have nothing of it.
func TestBadInput(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
		proxy, o := at.Proxy(t), scene.Look(t, at)
		from := f.open(t, proxy.Addr()+at.Root(), 10*time.Minute) // whose heartbeats come later
		before := proxy.Requests(rig.OpAny)
		for says, want := range map[string]messages.Acquire{"absolute": {Path: "orders"}, "-1s": {Path: "/a", Grace: -time.Second},
			"1025": {Path: "/a", Label: strings.Repeat("x", 1025), Try: true}} {
			r := from.ask(t, want)
			if want.Path == "/a" {
				r.ended(t, locks.ErrBadAcquire)
			} else {
				r.ended(t, locks.ErrBadPath)
			}
			require.Contains(t, r.why(), says)
			requireWent(t, r, actorstest.Then(messages.StateFailed))
			first := r.recorder().Transitions()[0]
			require.Equal(t, messages.StateNone, first.From)
			require.Equal(t, messages.Grant{Path: want.Path, Actor: first.Actor}, first.Grant)
			requireTold(t, r, first.Grant, told(&messages.Failed{}, messages.ReasonBadInput))
		}
		require.Empty(t, at.Children(t, o.Conn, ""))
		require.Equal(t, before, proxy.Requests(rig.OpAny), "something was sent")
	})
}
