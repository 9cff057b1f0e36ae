package tests

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// ends are the ways in which a lock actor can be ended from outside.
var ends = []struct {
	name string
	end  func(*request)
}{
	{"stop", func(r *request) { r.stage.system.Root.Stop(r.lock) }},
	{"poison", func(r *request) { r.stage.system.Root.Poison(r.lock) }},
	{"parent stop", func(r *request) { r.stage.system.Root.Stop(r.parent) }},
	{"parent poison", func(r *request) { r.stage.system.Root.Poison(r.parent) }},
}

// awaitEnd waits until the lock actor has ended, or its parent, which ends behind it.
func awaitEnd(t *testing.T, r *request) {
	t.Helper()
	limit := time.After(bound)
	for {
		select {
		case _, more := <-r.told:
			if !more {
				return
			}
		case <-r.stopped:
			return
		case <-limit:
			t.Fatalf("the lock actor never ended: %v", r)
		}
	}
}

func TestHolderThatIsStoppedReleases(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				holder := s.spawn(t, "/stopped")
				held := holder.hold(t)
				next := others.spawn(t, "/stopped")
				await(t, next.rec, messages.StateWatching)

				e.end(holder)
				got := next.hold(t)
				require.Greater(t, got.Token, held.Token)
				o.awaitQueue(t, "/stopped", []string{got.Node})
				tr := await(t, holder.rec, messages.StateReleasing)
				require.Equal(t, messages.ReasonStopped, tr.Reason)
				require.Equal(t, held.Node, tr.Node)
				awaitEnd(t, holder)
				requireMatch(t, holder, straight(messages.StateHeld, messages.StateReleasing)...)
				require.Empty(t, terminal(holder), "one that is stopped sends no end")

				next.send(&messages.Release{})
				next.finish(t)
				awaitNone(t, at, "/stopped")
			})
		}
	})
}

func TestWaiterThatIsStoppedLeavesTheQueue(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				holder := others.spawn(t, "/waiting")
				held := holder.hold(t)
				waiter := s.spawn(t, "/waiting")
				node := await(t, waiter.rec, messages.StateWatching).Node
				last := others.spawn(t, "/waiting")
				await(t, last.rec, messages.StateWatching)

				e.end(waiter)
				o.awaitGone(t, "/waiting", node)
				require.Equal(t, held.Node, o.queue(t, "/waiting")[0])
				require.Empty(t, last.told, "nobody may hold beside the holder")
				holder.send(&messages.Release{})
				got := last.hold(t)
				o.awaitQueue(t, "/waiting", []string{got.Node})
				awaitEnd(t, waiter)
				requireMatch(t, waiter, waited(messages.StateReleasing)...)
				require.Empty(t, terminal(waiter))

				last.send(&messages.Release{})
				last.finish(t)
				awaitNone(t, at, "/waiting")
			})
		}
	})
}

// TestStoppedRightAfterSpawnLeavesNothing: the end may come before, while and after the node is made.
func TestStoppedRightAfterSpawnLeavesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, e := range ends {
			t.Run(e.name, func(t *testing.T) {
				for range 5 {
					gone := s.spawn(t, "/young")
					e.end(gone)
					next := others.spawn(t, "/young")
					held := next.hold(t)
					awaitEnd(t, gone)
					// What is still being made is behind the holder, and goes as well.
					eventually(t, func() bool { return slices.Equal(o.queue(t, "/young"), []string{held.Node}) },
						"an orphan stays in /young")
					next.send(&messages.Release{})
					next.finish(t)
				}
				flush(t, s, "/young")
				awaitNone(t, at, "/young")
			})
		}
	})
}

// TestStoppedLockActorsLeaveNothing ends many at once, in whatever state each of them is.
func TestStoppedLockActorsLeaveNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		var all []*request
		for range 40 {
			all = append(all, s.spawn(t, "/many"))
		}
		await(t, all[0].rec, messages.StateCreating)
		for i, r := range all {
			ends[i%len(ends)].end(r)
		}
		for _, r := range all {
			awaitEnd(t, r)
		}
		flush(t, s, "/many")
		last := newStage(t, at.Connect()).spawn(t, "/many")
		last.hold(t)
		awaitCount(t, at, "/many", 1)
		last.send(&messages.Release{})
		last.finish(t)
		awaitNone(t, at, "/many")
	})
}

// TestClosedSessionEndsItsRequests: a holder is told Lost, a waiter Failed, and the next one, of another
// session, is granted.
func TestClosedSessionEndsItsRequests(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others := newStage(t, at.Connect()), newStage(t, at.Connect())
		holder := s.spawn(t, "/closed")
		holder.hold(t)
		waiter := s.spawn(t, "/closed")
		await(t, waiter.rec, messages.StateWatching)
		next := others.spawn(t, "/closed")
		await(t, next.rec, messages.StateWatching)

		require.NoError(t, s.session.Close(deadline(t)))
		require.Equal(t, messages.ReasonSessionClosed, notice[*messages.Lost](t, holder).Reason)
		require.Equal(t, messages.ReasonSessionClosed, notice[*messages.Failed](t, waiter).Reason)
		next.hold(t)
		awaitCount(t, at, "/closed", 1)
		late := s.spawn(t, "/closed")
		require.Equal(t, messages.ReasonSessionClosed, notice[*messages.Failed](t, late).Reason)
		awaitCount(t, at, "/closed", 1)
	})
}

// flush has a session lock and release: what it was making for those that ended before has been made then.
func flush(t *testing.T, s *stage, path string) {
	t.Helper()
	r := s.spawn(t, path)
	r.hold(t)
	r.send(&messages.Release{})
	r.finish(t)
}

// terminal gives the terminal notices that a request's recorder has.
func terminal(r *request) (found []any) {
	for _, n := range r.rec.Notices() {
		switch n.(type) {
		case *messages.Released, *messages.Lost, *messages.Cancelled, *messages.Failed:
			found = append(found, n)
		}
	}
	return found
}
