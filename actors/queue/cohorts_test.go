package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// held is a lock path that somebody holds, with some behind the holder who have no nodes.
func held(path, by string, behind ...string) queue.LockPath {
	node := "_c_x-lock-0000000001"
	holder := messages.Contender{Path: path, Node: node, Sequence: 1, Token: 1 << 10, Who: by, Holds: true}
	l := queue.LockPath{Contenders: []messages.Contender{holder}, Waiting: map[string][]messages.Contender{}}
	for i, who := range behind {
		l.Waiting[node] = append(l.Waiting[node], messages.Contender{Path: path, ID: path + who, Who: who, Detects: true,
			Since: time.Unix(int64(i), 0), WaitsFor: []string{node}})
	}
	return l
}

// told gives deadlocks in words.
func told(locks ...queue.LockPath) (words []string) {
	for _, d := range queue.Deadlocks(locks) {
		words = append(words, d.String())
	}
	return words
}

// TestDeadlocksInCohorts: requests that wait without a node, behind the node of their session, are
// part of deadlocks as others are.
func TestDeadlocksInCohorts(t *testing.T) {
	require.Equal(t, []string{"B holds /y and waits for /x; A holds /x and waits for /y"},
		told(held("/x", "A", "B"), held("/y", "B", "A")))
	require.Equal(t, []string{"A holds /x and waits for /x"}, told(held("/x", "A", "A")))
	require.Empty(t, told(held("/x", "A", "B"), held("/y", "C", "A")), "C goes on")
	require.Empty(t, told(held("/x", "A", "B"), held("/y", "B")), "A goes on")
	require.Equal(t, []string{"A holds /x and waits for /y; B holds /y and waits for /x"},
		told(held("/x", "A", "C", "B"), held("/y", "B", "A")), "who merely waits between them is no part of it")
}

// TestWhoWaitsInACohortKeepsNobodyInTheQueueOut: a contender behind the node may get in first.
func TestWhoWaitsInACohortKeepsNobodyInTheQueueOut(t *testing.T) {
	x := held("/x", "A", "B")
	second := messages.Contender{Path: "/x", Node: "_c_y-lock-0000000002", Sequence: 2, Token: 2 << 10, Who: "C"}
	x.Contenders = append(x.Contenders, second)
	y := held("/y", "C", "B")
	require.Empty(t, told(x, y), "A goes on, and then C may")
	require.Equal(t, []string{"C holds /y and waits for /x; A holds /x and waits for /y"}, told(x, held("/y", "C", "A")))
}

// TestCohortBehindAWaiter: those behind a node that waits itself wait for all that it waits for.
func TestCohortBehindAWaiter(t *testing.T) {
	x := held("/x", "A")
	leader := messages.Contender{Path: "/x", Node: "_c_y-lock-0000000002", Sequence: 2, Token: 2 << 10, Who: "L"}
	x.Contenders = append(x.Contenders, leader)
	x.Waiting = map[string][]messages.Contender{leader.Node: {{Path: "/x", ID: "b", Who: "B"}}}
	require.Empty(t, told(x, held("/y", "B")))
	require.Equal(t, []string{
		"B holds /y and waits for /x; A holds /x and waits for /y",
	}, told(x, held("/y", "B", "A")))
}

// TestYoungestOfACohort: those without nodes are younger than all that have one, and the last that asked is the youngest.
func TestYoungestOfACohort(t *testing.T) {
	all := queue.Deadlocks([]queue.LockPath{held("/x", "A", "B"), held("/y", "B", "C", "A")})
	require.Len(t, all, 1)
	youngest, some := all[0].Youngest()
	require.True(t, some)
	require.Equal(t, "/yA", youngest.ID)
	node := messages.Contender{Node: "n", Token: 9 << 40, Detects: true}
	d := messages.Deadlock{Members: []messages.Member{{Waits: node}, {Waits: messages.Contender{ID: "w", Detects: true}}}}
	youngest, _ = d.Youngest()
	require.Equal(t, "w", youngest.ID)
	require.Equal(t, node, d.Turn().Members[0].Waits)
}
