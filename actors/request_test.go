package actors

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

var allModes = []messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Semaphore, messages.Contest}

// asks are requests that ask for something by one field. Those of good are well formed on every lock on which the field has
// an effect, and those of bad on none.
var asks = map[string]struct{ good, bad messages.Acquire }{
	"Name":      {messages.Acquire{Name: "n"}, messages.Acquire{Name: "a/b"}},
	"Naming":    {messages.Acquire{Naming: messages.KazooNaming}, messages.Acquire{Naming: 9}},
	"Permits":   {messages.Acquire{Permits: 3}, messages.Acquire{Permits: -1}},
	"Weight":    {messages.Acquire{Weight: 1}, messages.Acquire{Weight: -1}},
	"WatchAll":  {good: messages.Acquire{WatchAll: true}},
	"Timeout":   {messages.Acquire{Timeout: 1}, messages.Acquire{Timeout: -time.Second}},
	"Try":       {good: messages.Acquire{Try: true}},
	"Grace":     {messages.Acquire{Grace: 1}, messages.Acquire{Grace: -1}},
	"Beside":    {messages.Acquire{Beside: "_c_guid-__WRIT__0000000007"}, messages.Acquire{Beside: "_c_guid-__READ__0000000007"}},
	"Owner":     {messages.Acquire{Owner: "me"}, messages.Acquire{Owner: strings.Repeat("x", maxKey+1)}},
	"Caller":    {messages.Acquire{Caller: "me"}, messages.Acquire{Caller: strings.Repeat("x", maxKey+1)}},
	"Deadlocks": {messages.Acquire{Deadlocks: messages.Detection{Root: "/", Every: 1}}, messages.Acquire{Deadlocks: messages.Detection{Root: "/"}}},
	"Label":     {messages.Acquire{Label: "me"}, messages.Acquire{Label: strings.Repeat("x", maxLabel+1)}},
	"Reclaim":   {messages.Acquire{Reclaim: "me"}, messages.Acquire{Reclaim: strings.Repeat("x", maxLabel+1)}},
	"TellMore":  {good: messages.Acquire{TellMore: true}},
	"Priority":  {messages.Acquire{Priority: 1}, messages.Acquire{Priority: -1}},
}

// TestEveryFieldOfAcquire: each has one row, and a request that asks for nothing else is refused in the modes in which the
// row says that the field has no effect, and in no other.
func TestEveryFieldOfAcquire(t *testing.T) {
	rows := map[string]field{}
	for _, f := range fields {
		require.NotContains(t, rows, f.name, "two rows")
		require.Equal(t, f.modes != nil, f.why != "", "%s: why it has no effect in other modes", f.name)
		rows[f.name] = f
	}
	all := reflect.VisibleFields(reflect.TypeFor[messages.Acquire]())
	require.Len(t, rows, len(all)-len([]string{"Path", "Mode"}))
	for _, of := range all {
		if of.Name == "Path" || of.Name == "Mode" {
			continue
		}
		f, has := rows[of.Name]
		require.True(t, has, "%s has no row in request.go", of.Name)
		ask, has := asks[of.Name]
		require.True(t, has, "%s is not tried here", of.Name)
		for _, mode := range allModes {
			err := CheckAcquire(in(mode, ask.good))
			if f.modes == nil || slices.Contains(f.modes, mode) {
				require.NoError(t, err, "%s in mode %v", f.name, mode)
			} else {
				require.ErrorIs(t, err, ErrBadAcquire, "%s in mode %v", f.name, mode)
				require.ErrorContains(t, err, f.name+" ")
				require.ErrorContains(t, err, f.why)
			}
			if f.check != nil {
				require.ErrorIs(t, CheckAcquire(in(mode, ask.bad)), ErrBadAcquire, "%s in mode %v", f.name, mode)
			}
		}
	}
}

// in completes a request to one that is well formed in a mode, but for what it asks for.
func in(mode messages.Mode, want messages.Acquire) messages.Acquire {
	want.Path, want.Mode = "/a", mode
	if mode == messages.Semaphore && want.Permits == 0 {
		want.Permits = 2
	}
	return want
}

// TestCheckAcquire: what does not go together, and what concerns no single field.
func TestCheckAcquire(t *testing.T) {
	require.NoError(t, CheckAcquire(messages.Acquire{Path: "/orders/42"}))
	require.ErrorIs(t, CheckAcquire(messages.Acquire{Path: "orders"}), zkconn.ErrBadPath)
	for _, bad := range []messages.Acquire{
		{Mode: 9}, {Mode: messages.Semaphore}, {Mode: messages.Semaphore, Permits: 2, Weight: 3},
		{Name: "n", Naming: messages.KazooNaming},
		{Mode: messages.Read, Beside: "other"}, {Mode: messages.Read, Beside: "/a/_c_guid-__WRIT__0000000007"}, {Mode: messages.Read, Name: "n", Beside: "_c_guid-__WRIT__0000000007"},
		{Deadlocks: messages.Detection{Root: "/b", Every: 1}}, {Deadlocks: messages.Detection{Every: 1}},
	} {
		bad.Path = "/a"
		require.ErrorIs(t, CheckAcquire(bad), ErrBadAcquire, "%+v", bad)
	}
}
