package faces

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// bad has requests that are not well formed, and the words that the refusal must have.
var bad = []struct {
	want messages.Acquire
	says string
	err  error // nil: callers have no way to ask for it
}{
	{messages.Acquire{}, "empty", locks.ErrBadPath},
	{messages.Acquire{Path: "orders"}, "absolute", locks.ErrBadPath},
	{messages.Acquire{Path: "orders/42"}, "absolute", locks.ErrBadPath},
	{messages.Acquire{Path: "/"}, "root", locks.ErrBadPath},
	{messages.Acquire{Path: "//"}, "//", locks.ErrBadPath},
	{messages.Acquire{Path: "/a//b"}, "//", locks.ErrBadPath},
	{messages.Acquire{Path: "/a/"}, "slash", locks.ErrBadPath},
	{messages.Acquire{Path: "/."}, ".", locks.ErrBadPath},
	{messages.Acquire{Path: "/.."}, "..", locks.ErrBadPath},
	{messages.Acquire{Path: "/a/./b"}, ".", locks.ErrBadPath},
	{messages.Acquire{Path: "/a/../b"}, "..", locks.ErrBadPath},
	{messages.Acquire{Path: "/a\x00b"}, "U+0000", locks.ErrBadPath},
	{messages.Acquire{Path: "/a\x01b"}, "U+0001", locks.ErrBadPath},
	{messages.Acquire{Path: "/zookeeper/a"}, "/zookeeper", locks.ErrBadPath},
	{messages.Acquire{Path: "/a", Mode: 7}, "mode 7", nil},
	{messages.Acquire{Path: "/a", Timeout: -time.Second}, "-1s", nil},
	{messages.Acquire{Path: "/a", Grace: -time.Second}, "-1s", locks.ErrBadAcquire},
	{messages.Acquire{Path: "/a", Mode: messages.Read, Beside: "other"}, "no writer's node", nil}, // a call within a lease has it
	{messages.Acquire{Path: "/a", Label: strings.Repeat("x", 1025)}, "1025", locks.ErrBadAcquire},
}

// TestBadInput: the request ends before it begins, and the servers have nothing of it.
func TestBadInput(t *testing.T) {
	eachFace(t, func(t *testing.T, f face, at *stories.Servers) {
		proxy, o := at.Proxy(t), stories.Look(t, at)
		from := f.open(t, proxy.Addr()+at.Root(), 10*time.Minute) // whose heartbeats come later
		before := proxy.Requests(rig.OpAny)
		for _, c := range bad {
			require.ErrorContains(t, actors.CheckAcquire(c.want), c.says)
			if _, calls := from.(client); calls && c.err == nil {
				continue
			}
			r := from.ask(t, c.want)
			r.ended(t, c.err)
			require.Contains(t, r.why(), c.says)
			requireWent(t, r, actorstest.Then(messages.StateFailed))
			first := r.recorder().Transitions()[0]
			require.Equal(t, messages.StateNone, first.From)
			require.Equal(t, messages.Grant{Path: c.want.Path, Actor: first.Actor}, first.Grant)
			requireTold(t, r, first.Grant, told(&messages.Failed{}, messages.ReasonBadInput))
		}
		require.Empty(t, at.Children(t, o.Conn, ""))
		require.Equal(t, before, proxy.Requests(rig.OpAny), "something was sent")
	})
}
