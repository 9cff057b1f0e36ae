package faces

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
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
	{"create is lost", rig.CutBefore, false,
		actorstest.InOrder(messages.StateCreating, messages.StateRecovering, messages.StateCreating, messages.StateHeld)},
	{"session expires, reply to the create lost", rig.DropReply, true, createsAgain},
	{"session expires, create lost", rig.CutBefore, true, createsAgain},
}

var createsAgain = []actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
	actorstest.Then(messages.StateRecovering), actorstest.Then(messages.StateCreating),
	actorstest.Maybe(messages.StateListing), actorstest.Then(messages.StateHeld)}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, c := range creates {
		t.Run(c.name, func(t *testing.T) {
			eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
				s := newStory(t, f, at, "/made")
				warm := s.ask(t, s.one) // so that the create is the lock's own
				before := warm.hold(t)
				frees(t, warm)
				session := s.one.session()

				fault := s.fault(rig.OpCreate, c.action)
				s.proxy.Refuse(c.expires)
				s.subject = s.ask(t, s.one)
				stories.AwaitFault[any](t, fault, nil)
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

// TestFirstCreateIsLost: the lock path does not exist yet.
func TestFirstCreateIsLost(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/first")
		fault := s.proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.CutBefore,
			Path: func(path string) bool { return path != at.Root()+s.path }})
		s.subject = s.ask(t, s.one)
		stories.AwaitFault[any](t, fault, nil)
		s.held = s.subject.hold(t)
		require.Equal(t, []string{s.held.Node}, s.o.Queue(t, s.path))
		frees(t, s.subject)
		requireWent(t, s.subject, actorstest.InOrder(messages.StateCreating, messages.StateRecovering,
			messages.StateCreating, messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

// foreign are children that are no contenders, though some look like it.
var foreign = []string{"foo", "_c_x", "lock-abc", "_c_x-lock-", "lock-12", "0000000000", "lock-99999999999999999999"}

func TestForeignChildrenArePassedOver(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/foreign")
		for _, name := range foreign {
			s.o.Plant(t, s.path+"/"+name, "whatever")
		}
		tries := s.one.ask(t, messages.Acquire{Path: s.path, Try: true})
		require.Equal(t, []string{tries.hold(t).Node}, s.o.Queue(t, s.path))
		frees(t, tries)
		requireWent(t, tries, straight...)
		var line []request
		for i, from := range []asker{s.one, s.other, s.one} {
			line = append(line, s.ask(t, from))
			stories.AwaitCount(t, at, s.path, len(foreign)+i+1)
		}
		queue := s.o.Queue(t, s.path)
		for i, r := range line {
			require.Equal(t, queue[i], r.hold(t).Node)
			frees(t, r)
		}
		stories.AwaitCount(t, at, s.path, len(foreign))
		requireWent(t, line[0], straight...)
	})
}

var straight = actorstest.InOrder(messages.StateCreating, messages.StateHeld, messages.StateReleasing,
	messages.StateReleased)

// TestOneGrantAfterTheOther: of several requests of one session and of several, each is granted in
// the order of their nodes, and the head of the queue is always the holder.
func TestOneGrantAfterTheOther(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		s := newStory(t, f, at, "/fifo")
		requests := map[string]request{}
		for i := range 6 {
			r := s.ask(t, []asker{s.one, s.other}[i/2%2]) // two of one session, two of the other, …
			stories.AwaitCount(t, at, s.path, i+1)
			for _, node := range s.o.Queue(t, s.path) {
				if requests[node] == nil {
					requests[node] = r
				}
			}
		}
		var newest messages.Token
		for _, node := range s.o.Queue(t, s.path) { // which is in the order of their numbers
			held := requests[node].hold(t)
			require.Equal(t, node, held.Node)
			require.Greater(t, held.Token, newest)
			newest = held.Token
			frees(t, requests[node])
			requireTold(t, requests[node], held.Grant, told(&messages.Held{}), released)
		}
		stories.AwaitNone(t, at, s.path)
	})
}

// TestSessionIsClosed: a holder has lost the lock, a waiter fails, and the next one, of another
// session, holds. Nothing can be asked for any more.
func TestSessionIsClosed(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
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
			patient.Await(t, waiter.recorder(), messages.StateWatching)
		}
		next := s.ask(t, s.other)
		patient.Await(t, next.recorder(), messages.StateWatching)

		s.one.close(t)
		holder.ended(t, locks.ErrLost)
		for _, waiter := range waiters {
			waiter.ended(t, locks.ErrClosed)
		}
		if f.name != "locks" { // a client's own actor system ends with it, and the recorder there
			requireTold(t, holder, s.held.Grant, told(&messages.Held{}),
				told(&messages.Lost{}, messages.ReasonSessionClosed))
			for _, waiter := range waiters {
				requireTold(t, waiter, patient.Await(t, waiter.recorder(), messages.StateFailed).Grant,
					told(&messages.Failed{}, messages.ReasonSessionClosed))
			}
		}
		require.Greater(t, next.hold(t).Token, s.held.Token)
		stories.AwaitCount(t, at, s.path, 1)
		late := s.ask(t, s.one)
		late.ended(t, locks.ErrClosed)
		if late, is := late.(*spawned); is { // a call is refused before it becomes a request
			requireTold(t, late, messages.Grant{Path: s.path, Actor: messages.IDOf(late.r.Lock)},
				told(&messages.Failed{}, messages.ReasonSessionClosed))
		}
		stories.AwaitCount(t, at, s.path, 1)
		frees(t, next)
		frees(t, busy)
	})
}
