package board

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestInside: the requests of the own session that wait without a node, as they were told last; a reading that says the
// same is nothing new. Long texts are cut, as everywhere.
func TestInside(t *testing.T) {
	b := New("/")
	b.TakeSession(start, actors.Connection{Phase: actors.Connected, Epoch: 1, ID: 0xabc, Inside: 9, MaxNodeBytes: 1000})
	waits := &messages.Inside{Root: "/", All: 300, Waiting: []messages.Contender{
		{ID: "one", Path: "/app/cohort", Label: "billing", Owner: "worker 7", Caller: "batch", Actor: "actor", Cohort: 100, Since: start},
		{ID: "two", Path: "/app/permits", Mode: messages.Semaphore, Weight: 2, Name: "left", Host: "web", PID: 7, Owner: "worker 7", Actor: "actor"},
		{ID: "three", Path: "/app/long", Mode: messages.Read, Label: strings.Repeat("x", 5000), Actor: "actor"},
	}}
	before := b.Changed()
	b.TakeInside(waits)
	require.True(t, isClosed(before))
	v := b.Overview(start, "", 10)
	require.Equal(t, 300, v.Figures.Own.Inside, "and not those of the connection, which are other ones")
	require.Equal(t, []InsideRow{
		{ID: "one", Path: "/app/cohort", Who: "billing", By: "batch", Mode: "exclusive", Cohort: 100, Since: start.UnixMilli()},
		{ID: "two", Path: "/app/permits", Who: "web:7", By: "worker 7", Mode: "semaphore", Queue: "left", Weight: 2},
		{ID: "three", Path: "/app/long", Who: strings.Repeat("x", longestText-len(ellipsis)) + ellipsis, By: "actor", Mode: "read"},
	}, v.Inside)

	before = b.Changed()
	b.TakeInside(waits)
	require.False(t, isClosed(before), "nothing new")
	b.TakeInside(&messages.Inside{Root: "/", Waiting: waits.Waiting[:2], All: 2})
	require.True(t, isClosed(before))
	require.Len(t, b.Overview(start, "", 10).Inside, 2)
	b.TakeInside(&messages.Inside{Root: "/"})
	require.Empty(t, b.Overview(start, "", 10).Inside)
	require.Zero(t, b.Overview(start, "", 10).Figures.Own.Inside)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
