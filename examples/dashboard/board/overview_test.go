package board

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// drawn is a tree as text: each row indented by its depth, folders with a slash at the end.
func drawn(rows []LockRow) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Repeat("  ", r.Depth) + r.Name)
		if r.Folder {
			b.WriteString("/")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestPermitsTaken: a semaphore's kind says how many of how many permits are taken, also after the number has changed.
func TestPermitsTaken(t *testing.T) {
	b := New("/")
	q := &messages.Queue{Path: "/s", Permits: 5, Contenders: []messages.Contender{
		{Path: "/s", Node: "a", Mode: messages.Semaphore, Weight: 3, Holds: true},
		{Path: "/s", Node: "b", Mode: messages.Semaphore, Weight: 1, Holds: true},
		{Path: "/s", Node: "c", Mode: messages.Semaphore, Weight: 2},
	}}
	b.TakeQueue(start, q)
	require.Equal(t, "semaphore, 4 of 5", b.Lock(start, "/s", Shown{}).Figures.Kind)
	smaller := *q
	smaller.Permits = 2
	changed := b.Changed()
	b.TakeQueue(start, &smaller)
	require.Equal(t, "semaphore, 4 of 2", b.Lock(start, "/s", Shown{}).Figures.Kind)
	select {
	case <-changed:
	default:
		require.Fail(t, "nobody is told of the change")
	}
}

func TestTree(t *testing.T) {
	b := New("/")
	tree := &messages.LockTree{Root: "/"}
	for _, path := range []string{"/a-b", "/a/x", "/a/x/deep/y", "/a/x-1", "/shop/orders/42", "/shop/orders/43", "/alone/in/here", "/ab"} {
		tree.Locks = append(tree.Locks, messages.LockCount{Path: path, Holders: 1})
	}
	b.TakeTree(start, tree)
	require.Equal(t, `/a/
  /x
    /deep/y
  /x-1
/a-b
/ab
/alone/in/here
/shop/orders/
  /42
  /43
`, drawn(b.Overview(start, "", 100).Locks))
	v := b.Overview(start, "ORDERS", 1)
	require.Equal(t, "/shop/orders/42\n", drawn(v.Locks))
	require.Equal(t, 2, v.Figures.Matching)
	require.Equal(t, 1, v.Figures.Shown)
	require.Equal(t, 8, v.Figures.Locks, "the figures are of all")
}

// TestOverviewIsBounded: however much there is, a page is sent little of it.
func TestOverviewIsBounded(t *testing.T) {
	b := New("/")
	tree := &messages.LockTree{Root: "/", Truncated: true}
	for n := range 20_000 {
		tree.Locks = append(tree.Locks, messages.LockCount{Path: fmt.Sprintf("/lock-%05d", n), Name: "", Holders: 1, Waiters: n % 3})
	}
	b.TakeTree(start, tree)
	var crowd []int
	for n := range 10_000 {
		crowd = append(crowd, n)
	}
	b.TakeQueue(start, queue(crowd...))
	v := b.Overview(after(1), "", 50)
	require.Len(t, v.Locks, 50)
	require.Len(t, v.Waits, mostWaits)
	require.Equal(t, 20_001, v.Figures.Locks)
	require.Equal(t, 1, v.Waits[0].Position, "of those that have waited equally long the first is the first")
	l := b.Lock(after(1), "/lock", Shown{Holders: 50, Waiters: 50, Events: 50})
	require.Len(t, l.Waiters, 50)
	require.Equal(t, 9_999, l.Figures.Waiters)
	found := b.Lock(after(1), "/lock", Shown{Word: "C7777", Waiters: 50})
	require.Equal(t, 1, found.Figures.Matching)
	require.Equal(t, 7_777, found.Waiters[0].Position)
}

// TestForgetting: a lock for which nobody contends is shown for a while, and then no more. The same
// goes for a lock that is dropped.
func TestForgetting(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), queue(1))
	b.TakeQueue(after(1), queue())
	require.False(t, b.Over(after(2), "/lock"))
	require.Len(t, b.Overview(after(2), "", 10).Locks, 1)
	require.True(t, b.Over(after(2).Add(keepEmpty), "/lock"))
	b.Drop("/lock")
	require.Empty(t, b.Overview(after(3), "", 10).Locks)
	require.False(t, b.Over(after(4), "/lock"))
}

// TestChanged: one that waits for a change is told of each change, and of nothing else.
func TestChanged(t *testing.T) {
	b := New("/")
	for _, step := range []struct {
		do   func()
		told bool
	}{
		{func() { b.TakeTree(start, &messages.LockTree{Root: "/"}) }, true}, // it was looked for the first time
		{func() { b.TakeTree(start, &messages.LockTree{Root: "/"}) }, false},
		{func() { b.TakeQueue(start, queue(1)) }, true},
		{func() { b.TakeQueue(start, queue(1)) }, false},
		{func() { b.TakeQueue(start, queue(1, 2)) }, true},
		{func() { b.TakeTrouble("") }, false},
		{func() { b.TakeTrouble("no connection") }, true},
		{func() { b.TakeDeadlocks(nil, nil) }, false},
	} {
		changed := b.Changed()
		step.do()
		select {
		case <-changed:
			require.True(t, step.told)
		default:
			require.False(t, step.told)
		}
	}
}
