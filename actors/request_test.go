package actors

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

var allModes = []messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Semaphore, messages.Contest}

// TestEveryFieldOfAcquire: each has one row in package asks, and a request that asks for nothing else is refused in the modes in which its rule
// says that the field has no effect, and in no other.
func TestEveryFieldOfAcquire(t *testing.T) {
	all := reflect.VisibleFields(reflect.TypeFor[messages.Acquire]())
	require.Len(t, asks.Fields, len(all), "rows of package asks")
	for name := range rules {
		require.True(t, slices.ContainsFunc(fields, func(f field) bool { return f.name == name }), "there is no field %s", name)
	}
	for i, of := range all {
		f, ask := fields[i], asks.Fields[i]
		require.Equal(t, of.Name, ask.Name, "the rows are in the order of the fields")
		require.Equal(t, f.modes != nil, f.why != "", "%s: why it has no effect in other modes", f.name)
		for _, mode := range allModes {
			if f.name == "Path" || f.name == "Mode" {
				continue
			}
			err := CheckAcquire(in(mode, ask.With(messages.Acquire{}, ask.Good)))
			if f.modes == nil || slices.Contains(f.modes, mode) {
				require.NoError(t, err, "%s in mode %v", f.name, mode)
			} else {
				require.ErrorIs(t, err, ErrBadAcquire, "%s in mode %v", f.name, mode)
				require.ErrorContains(t, err, f.name+" ")
				require.ErrorContains(t, err, f.why)
			}
			if ask.Bad != nil {
				require.ErrorIs(t, CheckAcquire(in(mode, ask.With(messages.Acquire{}, ask.Bad))), ErrBadAcquire, "%s in mode %v", f.name, mode)
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
		{Mode: 9}, {Mode: messages.Semaphore}, {Mode: messages.Semaphore, Permits: 2, Weight: 1<<30 + 1},
		{Name: "n", Naming: messages.KazooNaming},
		{Mode: messages.Read, Beside: "other"}, {Mode: messages.Read, Beside: "/a/_c_guid-__WRIT__0000000007"}, {Mode: messages.Read, Name: "n", Beside: "_c_guid-__WRIT__0000000007"},
		{Deadlocks: messages.Detection{Root: "/b", Every: 1}}, {Deadlocks: messages.Detection{Every: 1}},
		{Deadlocks: messages.Detection{Root: "a", Every: 1}}, {Deadlocks: messages.Detection{Root: "/a/", Every: 1}},
		{Mode: messages.Contest, Deadlocks: messages.Detection{Root: "/", Every: 1}},
	} {
		bad.Path = "/a"
		require.ErrorIs(t, CheckAcquire(bad), ErrBadAcquire, "%+v", bad)
	}
	require.ErrorIs(t, CheckAcquire(messages.Acquire{Path: "/locks/1", Deadlocks: messages.Detection{Root: "/lock", Every: 1}}), ErrBadAcquire)
}
