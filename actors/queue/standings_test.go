package queue_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestStandingsSayWhatFindSays: of every contender of any queue, also with names, readers at a writer's position, and
// children that are nobody's.
func TestStandingsSayWhatFindSays(t *testing.T) {
	modes := []messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Semaphore}
	rapid.Check(t, func(t *rapid.T) {
		children := []string{"config", "leases"}
		contenders := rapid.IntRange(0, 12).Draw(t, "contenders")
		for i := range contenders {
			style := queue.Style{
				Mode: rapid.SampledFrom(modes).Draw(t, "mode"),
				Name: rapid.SampledFrom([]string{"", "orders"}).Draw(t, "name"),
			}
			if style.Mode == messages.Semaphore {
				style.Weight = rapid.IntRange(1, 4).Draw(t, "weight")
			}
			sequence := rapid.IntRange(1, 8).Draw(t, "sequence")
			children = append(children, style.Prefix(fmt.Sprintf("%036d", i))+fmt.Sprintf("%010d", sequence))
		}
		permits := rapid.IntRange(0, 6).Draw(t, "permits")
		all := queue.Standings(rapid.Permutation(children).Draw(t, "children"), permits)
		require.Len(t, all, contenders)
		for i, s := range all {
			position, ok := queue.Find(children, s.Child, permits)
			require.True(t, ok)
			require.Equal(t, position.Before == 0, s.Holds, s.Child)
			if len(s.WaitsFor) <= 1 { // of several first waiters with one number, one names all holders
				position.Front = position.Front[max(len(position.Front)-1, 0):]
			}
			require.Equal(t, fmt.Sprint(position.Front), fmt.Sprint(s.WaitsFor), s.Child)
			if i > 0 && all[i-1].Name == s.Name {
				require.LessOrEqual(t, all[i-1].Sequence, s.Sequence)
			}
		}
		require.True(t, slices.IsSortedFunc(all, func(a, b queue.Standing) int {
			return slices.Compare([]byte(a.Name), []byte(b.Name))
		}))
	})
}

// TestKazooMayHold: kazoo's locks see no names but kazoo's. A contender
// that waits by the rule of the queue, and not by theirs, may hold.
func TestKazooMayHold(t *testing.T) {
	const ours, theirs, reader = "_c_a-lock-000000000%d", "k__lock__000000000%d", "k__rlock__000000000%d"
	for _, tc := range []struct {
		children []string
		may      []bool
	}{
		{[]string{ours, theirs, ours, theirs}, []bool{false, true, false, false}},
		{[]string{theirs, ours, theirs}, []bool{false, false, false}},
		{[]string{ours, reader, reader, theirs, reader}, []bool{false, true, true, false, false}},
		{[]string{ours, ours}, []bool{false, false}},
	} {
		var children []string
		for i, name := range tc.children {
			children = append(children, fmt.Sprintf(name, i))
		}
		var may []bool
		for _, s := range queue.Standings(children, 0) {
			may = append(may, s.MayHold)
		}
		require.Equal(t, tc.may, may, children)
	}
}

// TestPermitsNeverOverflow: a weight that our API refuses is no contender's, and no sum of weights gives out more
// permits than there are.
func TestPermitsNeverOverflow(t *testing.T) {
	const first, huge, next = "_c_a-permits-1-0000000001", "_c_x-permits-9223372036854775807-0000000002", "_c_b-permits-1-000000000%d"
	_, ok := queue.Parse(huge)
	assert.False(t, ok)
	_, ok = queue.Parse(fmt.Sprintf("_c_x-permits-%d-0000000002", queue.MaxPermits+1))
	assert.False(t, ok)
	_, ok = queue.Parse(fmt.Sprintf("_c_x-permits-%d-0000000002", queue.MaxPermits))
	require.True(t, ok)
	children := []string{first, huge, fmt.Sprintf(next, 3), fmt.Sprintf(next, 4), fmt.Sprintf(next, 5)}
	holders := 0
	for _, s := range queue.Standings(children, 2) {
		if s.Holds {
			holders++
		}
	}
	require.Equal(t, 2, holders)

	all := fmt.Sprintf("_c_x-permits-%d-%%010d", queue.MaxPermits)
	full := []string{fmt.Sprintf(all, 0), fmt.Sprintf(all, 1), fmt.Sprintf(all, 2), fmt.Sprintf(next, 3)}
	for i, s := range queue.Standings(full, queue.MaxPermits) {
		require.Equal(t, i == 0, s.Holds, s)
	}
}

// TestStandingsGrowAsQueuesDo: with one number for all who wait, their standings do not name all holders each.
func TestStandingsGrowAsQueuesDo(t *testing.T) {
	named := 0
	const n = 1000
	var children []string
	for i := range 2 * n {
		children = append(children, fmt.Sprintf("_c_%d-permits-1-%010d", i, i/n))
	}
	for _, s := range queue.Standings(children, n) {
		named += len(s.WaitsFor)
	}
	require.Equal(t, n+n-1, named)
}
