package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// ends are the ways in which a lock actor can be ended from outside.
var ends = []struct {
	name string
	end  func(*scene.Request)
}{
	{"stop", func(r *scene.Request) { r.Stage.System.Root.Stop(r.Lock) }},
	{"poison", func(r *scene.Request) { r.Stage.System.Root.Poison(r.Lock) }},
	{"parent stop", func(r *scene.Request) { r.Stage.System.Root.Stop(r.Parent) }},
	{"parent poison", func(r *scene.Request) { r.Stage.System.Root.Poison(r.Parent) }},
}

// awaitEnd waits until the lock actor has ended, or its parent, which ends behind it.
func awaitEnd(t *testing.T, r *scene.Request) {
	t.Helper()
	for limit := time.After(scene.Bound); ; {
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

// TestStoppedOneLeavesTheQueue: a lock actor that is stopped while it holds, or while it waits, deletes its node and
// sends no end. The one behind it, of another session, holds when nobody else does.
func TestStoppedOneLeavesTheQueue(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		s, others, o := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect()), scene.Look(t, at)
		for _, waits := range []bool{false, true} {
			for _, e := range ends {
				t.Run(fmt.Sprintf("%s, waits %v", e.name, waits), func(t *testing.T) {
					through := scene.Straight(messages.StateHeld, messages.StateReleasing)
					var before *scene.Request
					if waits {
						through = scene.Waited(messages.StateReleasing)
						before = others.Spawn(t, "/stopped").Holds(t)
					}
					stopped := s.Spawn(t, "/stopped")
					reached := messages.StateHeld
					if waits {
						reached = messages.StateWatching
					}
					node := scene.Await(t, stopped.Rec, reached).Node
					next := others.Spawn(t, "/stopped").Waits(t)
					queue := o.Queue(t, "/stopped")

					e.end(stopped)
					o.AwaitGone(t, "/stopped", node)
					if waits {
						require.Equal(t, queue[0], o.Queue(t, "/stopped")[0])
						require.Empty(t, next.Told, "nobody may hold beside the holder")
						before.Send(&messages.Release{})
					}
					got := next.Hold(t)
					require.Equal(t, queue[len(queue)-1], got.Node)
					o.AwaitQueue(t, "/stopped", []string{got.Node})
					tr := scene.Await(t, stopped.Rec, messages.StateReleasing)
					require.Equal(t, messages.ReasonStopped, tr.Reason)
					require.Equal(t, node, tr.Node)
					require.Greater(t, got.Token, tr.Token)
					awaitEnd(t, stopped)
					scene.RequireMatch(t, stopped, through...)
					for _, notice := range stopped.Rec.Notices() {
						switch notice.(type) {
						case *messages.Released, *messages.Lost, *messages.Cancelled, *messages.Failed:
							t.Errorf("one that is stopped sends no end, and not %T", notice)
						}
					}

					next.Send(&messages.Release{})
					next.Finish(t)
					scene.AwaitNone(t, at, "/stopped")
				})
			}
		}
	})
}

// TestStoppedRightAfterSpawnLeavesNothing: the end may come before, while and after the node is made.
func TestStoppedRightAfterSpawnLeavesNothing(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, others, o := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect()), scene.Look(t, at)
	for i := range 20 {
		gone := s.Spawn(t, "/young")
		ends[i%len(ends)].end(gone)
		next := others.Spawn(t, "/young")
		held := next.Hold(t)
		awaitEnd(t, gone)
		// A node that is still being made is behind the holder, and goes as well.
		scene.Eventually(t, func() bool { return slices.Equal(o.Queue(t, "/young"), []string{held.Node}) },
			"an orphan stays in /young")
		next.Send(&messages.Release{})
		next.Finish(t)
	}
	last := s.Spawn(t, "/young") // by then the session has made the nodes of requests that ended before
	last.Hold(t)
	last.Send(&messages.Release{})
	last.Finish(t)
	scene.AwaitNone(t, at, "/young")
}

// TestStoppedWhileDisconnected: lock actors that end while there is no connection leave nothing, whether
// the session comes back or not.
func TestStoppedWhileDisconnected(t *testing.T) {
	at := scene.OnEmbedded(t)
	for _, expires := range []bool{false, true} {
		f, others := scene.NewFragile(t, at), scene.NewStage(t, at.Connect())
		holder := f.Spawn(t, "/unplugged")
		holder.Hold(t)
		waiter := f.Spawn(t, "/unplugged")
		scene.Await(t, waiter.Rec, messages.StateWatching)
		next := others.Spawn(t, "/unplugged")
		scene.Await(t, next.Rec, messages.StateWatching)

		f.Proxy.Refuse(true)
		f.Proxy.Cut()
		scene.Await(t, holder.Rec, messages.StateRecovering)
		scene.Await(t, waiter.Rec, messages.StateRecovering)
		for _, r := range []*scene.Request{holder, waiter} {
			f.System.Root.Stop(r.Lock)
			awaitEnd(t, r)
		}
		if expires {
			f.Expire(t)
		}
		f.Proxy.Refuse(false)
		next.Hold(t)
		scene.AwaitCount(t, at, "/unplugged", 1)
		next.Send(&messages.Release{})
		next.Finish(t)
	}
}
