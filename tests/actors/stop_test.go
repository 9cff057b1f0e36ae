package actors

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// ends are the ways in which a lock actor can be ended from outside.
var ends = []struct {
	name string
	end  func(*stage.Request)
}{
	{"stop", func(r *stage.Request) { r.Stage.System.Root.Stop(r.Lock) }},
	{"poison", func(r *stage.Request) { r.Stage.System.Root.Poison(r.Lock) }},
	{"parent stop", func(r *stage.Request) { r.Stage.System.Root.Stop(r.Parent) }},
	{"parent poison", func(r *stage.Request) { r.Stage.System.Root.Poison(r.Parent) }},
}

// awaitEnd waits until the lock actor has ended, or its parent, which ends behind it.
func awaitEnd(t *testing.T, r *stage.Request) {
	t.Helper()
	limit := time.After(patient.Bound)
	for {
		select {
		case _, more := <-r.Told:
			if !more {
				return
			}
		case <-r.Stopped:
			return
		case <-limit:
			t.Fatalf("the lock actor never ended: %v", r)
		}
	}
}

func TestHolderThatIsStoppedReleases(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				holder := s.Spawn(t, "/stopped")
				held := holder.Hold(t)
				next := others.Spawn(t, "/stopped")
				patient.Await(t, next.Rec, messages.StateWatching)

				e.end(holder)
				got := next.Hold(t)
				require.Greater(t, got.Token, held.Token)
				o.AwaitQueue(t, "/stopped", []string{got.Node})
				tr := patient.Await(t, holder.Rec, messages.StateReleasing)
				require.Equal(t, messages.ReasonStopped, tr.Reason)
				require.Equal(t, held.Node, tr.Node)
				awaitEnd(t, holder)
				stage.RequireMatch(t, holder, stage.Straight(messages.StateHeld, messages.StateReleasing)...)
				require.Empty(t, terminal(holder), "one that is stopped sends no end")

				next.Send(&messages.Release{})
				next.Finish(t)
				stories.AwaitNone(t, at, "/stopped")
			})
		}
	})
}

func TestWaiterThatIsStoppedLeavesTheQueue(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				holder := others.Spawn(t, "/waiting")
				held := holder.Hold(t)
				waiter := s.Spawn(t, "/waiting")
				node := patient.Await(t, waiter.Rec, messages.StateWatching).Node
				last := others.Spawn(t, "/waiting")
				patient.Await(t, last.Rec, messages.StateWatching)

				e.end(waiter)
				o.AwaitGone(t, "/waiting", node)
				require.Equal(t, held.Node, o.Queue(t, "/waiting")[0])
				require.Empty(t, last.Told, "nobody may hold beside the holder")
				holder.Send(&messages.Release{})
				got := last.Hold(t)
				o.AwaitQueue(t, "/waiting", []string{got.Node})
				awaitEnd(t, waiter)
				stage.RequireMatch(t, waiter, stage.Waited(messages.StateReleasing)...)
				require.Empty(t, terminal(waiter))

				last.Send(&messages.Release{})
				last.Finish(t)
				stories.AwaitNone(t, at, "/waiting")
			})
		}
	})
}

// TestStoppedRightAfterSpawnLeavesNothing: the end may come before, while and after the node is made.
func TestStoppedRightAfterSpawnLeavesNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				for range 5 {
					gone := s.Spawn(t, "/young")
					e.end(gone)
					next := others.Spawn(t, "/young")
					held := next.Hold(t)
					awaitEnd(t, gone)
					// What is still being made is behind the holder, and goes as well.
					patient.Eventually(t, func() bool { return slices.Equal(o.Queue(t, "/young"), []string{held.Node}) },
						"an orphan stays in /young")
					next.Send(&messages.Release{})
					next.Finish(t)
				}
				flush(t, s, "/young")
				stories.AwaitNone(t, at, "/young")
			})
		}
	})
}

// TestStoppedLockActorsLeaveNothing ends many at once, in whatever state each of them is.
func TestStoppedLockActorsLeaveNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		var all []*stage.Request
		for range 40 {
			all = append(all, s.Spawn(t, "/many"))
		}
		patient.Await(t, all[0].Rec, messages.StateCreating)
		for i, r := range all {
			ends[i%len(ends)].end(r)
		}
		for _, r := range all {
			awaitEnd(t, r)
		}
		flush(t, s, "/many")
		last := stage.New(t, at.Connect()).Spawn(t, "/many")
		last.Hold(t)
		stories.AwaitCount(t, at, "/many", 1)
		last.Send(&messages.Release{})
		last.Finish(t)
		stories.AwaitNone(t, at, "/many")
	})
}

// TestClosedSessionEndsItsRequests: a holder is told Lost, a waiter Failed, and the next one, of another
// session, is granted.
func TestClosedSessionEndsItsRequests(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others := stage.New(t, at.Connect()), stage.New(t, at.Connect())
		holder := s.Spawn(t, "/closed")
		holder.Hold(t)
		waiter := s.Spawn(t, "/closed")
		patient.Await(t, waiter.Rec, messages.StateWatching)
		next := others.Spawn(t, "/closed")
		patient.Await(t, next.Rec, messages.StateWatching)

		require.NoError(t, s.Session.Close(patient.Deadline(t)))
		require.Equal(t, messages.ReasonSessionClosed, stage.Notice[*messages.Lost](t, holder).Reason)
		require.Equal(t, messages.ReasonSessionClosed, stage.Notice[*messages.Failed](t, waiter).Reason)
		next.Hold(t)
		stories.AwaitCount(t, at, "/closed", 1)
		late := s.Spawn(t, "/closed")
		require.Equal(t, messages.ReasonSessionClosed, stage.Notice[*messages.Failed](t, late).Reason)
		stories.AwaitCount(t, at, "/closed", 1)
	})
}

// flush has a session lock and release: what it was making for those that ended before has been made then.
func flush(t *testing.T, s *stage.Stage, path string) {
	t.Helper()
	r := s.Spawn(t, path)
	r.Hold(t)
	r.Send(&messages.Release{})
	r.Finish(t)
}

// terminal gives the terminal notices that a request's recorder has.
func terminal(r *stage.Request) (found []any) {
	for _, n := range r.Rec.Notices() {
		switch n.(type) {
		case *messages.Released, *messages.Lost, *messages.Cancelled, *messages.Failed:
			found = append(found, n)
		}
	}
	return found
}
