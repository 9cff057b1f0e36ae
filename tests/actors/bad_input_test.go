package actors

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestBadInputFailsAndSendsNothing: the request ends before it begins, and the server has nothing of it.
func TestBadInputFailsAndSendsNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		s, o := stage.New(t, proxy.Addr()+at.Root()), stories.Look(t, at)
		for _, c := range []struct {
			want messages.Acquire
			says string // what the detail must name
		}{
			{messages.Acquire{}, "empty"},
			{messages.Acquire{Path: "relative"}, "absolute"},
			{messages.Acquire{Path: "/"}, "root"},
			{messages.Acquire{Path: "/a//b"}, "//"},
			{messages.Acquire{Path: "/a/"}, "slash"},
			{messages.Acquire{Path: "/a/../b"}, ".."},
			{messages.Acquire{Path: "/a\x00b"}, "U+0000"},
			{messages.Acquire{Path: "/zookeeper/a"}, "/zookeeper"},
			{messages.Acquire{Path: "/a", Mode: 7}, "mode 7"},
			{messages.Acquire{Path: "/a", Timeout: -time.Second}, "-1s"},
			{messages.Acquire{Path: "/a", Grace: -time.Second}, "-1s"},
			{messages.Acquire{Path: "/a", Cohort: 1024}, "1023"},
			{messages.Acquire{Path: "/a", Cohort: 2, Mode: messages.Write}, "Cohort 2 has no effect"},
			{messages.Acquire{Path: "/a", Cohort: 2, Mode: messages.Semaphore, Permits: 2}, "Cohort 2 has no effect"},
			{messages.Acquire{Path: "/a", Cohort: 2, Mode: messages.Read, WatchAll: true}, "cohort of 2"},
			{messages.Acquire{Path: "/a", Label: strings.Repeat("x", 1025)}, "1025"},
		} {
			require.ErrorContains(t, actors.CheckAcquire(c.want), c.says)
			r := s.SpawnFor(t, c.want)
			failed := stage.Notice[*messages.Failed](t, r)
			require.Equal(t, messages.ReasonBadInput, failed.Reason)
			require.Contains(t, failed.Detail, c.says)
			require.Equal(t, messages.Grant{Path: c.want.Path, Actor: messages.IDOf(r.Lock)}, failed.Grant)
			require.Empty(t, r.Finish(t))
			stage.RequireMatch(t, r, actorstest.Then(messages.StateFailed))
			require.Equal(t, messages.StateNone, r.Rec.Transitions()[0].From)
		}
		require.NoError(t, actors.CheckAcquire(messages.Acquire{Path: "/a", Cohort: 2, Mode: messages.Read}))
		require.Empty(t, at.Children(t, o.Conn, ""))
		require.Zero(t, proxy.Requests(0), "something was sent")
	})
}

// TestQueueFullFails: a request with a bound on waiters fails where it would wait, and has no node.
func TestQueueFullFails(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		holder := s.Spawn(t, "/a")
		holder.Hold(t)
		r := s.SpawnFor(t, messages.Acquire{Path: "/a", MaxWaiters: 1})
		failed := stage.Notice[*messages.Failed](t, r)
		require.Equal(t, messages.ReasonQueueFull, failed.Reason)
		require.Equal(t, messages.Grant{Path: "/a", Actor: messages.IDOf(r.Lock)}, failed.Grant)
		require.Empty(t, r.Finish(t))
		stage.RequireMatch(t, r, actorstest.Then(messages.StateCreating), actorstest.Then(messages.StateFailed))
		holder.Send(&messages.Release{})
		stage.Notice[*messages.Released](t, holder)
	})
}
