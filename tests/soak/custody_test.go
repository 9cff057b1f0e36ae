package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// with is grant by a contender node, from its request to the return of Unlock.
func (c courtroom) with(node string, who holder, token, call, at, end int64) {
	c.hear(report{Kind: kindAsk, From: who, Call: call})
	c.hear(report{Kind: kindGrant, From: who, Node: node, Token: token, Call: call, At: at, Confirmed: at})
	c.hear(report{Kind: kindEnd, From: who, Token: token, Confirmed: end, At: end + 1})
	c.hear(report{Kind: kindUnlocked, From: who, Token: token, At: end + 2})
}

// deletedAt has an operator delete a node.
func (c courtroom) deletedAt(node string, call, ret int64) {
	c.deleting(0, node)(true)
	d := c.locks[0].deletions[len(c.locks[0].deletions)-1]
	d.call, d.ret = call, ret
}

func (c courtroom) deleted(held, retained int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	gotHeld, gotRetained := c.deletions()
	require.Equal(c.t, []int{held, retained}, []int{gotHeld, gotRetained})
}

// Whose node an operator deletes holds on until it is told: that is the operator's doing.
func TestDeleteOfAHeldNodeIsTheOperators(t *testing.T) {
	c := newCourtroom(t)
	c.deletedAt("a", 250, 260)
	c.with("a", anna, 5, 100, 200, 300)
	c.with("b", bert, 6, 150, 270, 400)
	c.found(map[string]int{})
	require.Equal(t, 1, c.tally().operator)
	require.EqualValues(t, 30, c.tally().operatorLongest)
	c.deleted(1, 0)
}

// A retained node that was deleted before the lock was asked for again is granted all the same.
func TestGrantOfARetainedNodeThatIsGoneIsFound(t *testing.T) {
	c := newCourtroom(t)
	c.with("a", anna, 5, 100, 200, 300)
	c.deletedAt("a", 350, 360)
	c.with("b", bert, 9, 100, 370, 500)
	c.with("a", anna, 6, 400, 401, 450)
	c.found(map[string]int{retainedGone: 2}) // two at once, and the smaller token later
	require.EqualValues(t, 49, c.longest())
	c.deleted(0, 1)
}

// So is one that somebody of the same session waited for already when it was deleted, and that was given back
// after that.
func TestGrantOfANodeThatWasGoneWhenItWasGivenBackIsFound(t *testing.T) {
	c := newCourtroom(t)
	c.with("a", anna, 5, 100, 200, 300)
	c.deletedAt("a", 250, 260)
	c.with("b", bert, 9, 100, 310, 500)
	c.with("a", carl, 6, 150, 401, 450)
	c.found(map[string]int{retainedGone: 2})
	c.deleted(1, 0)
}

// A delete that was under way while a retained node was taken may have come after the grant.
func TestDeleteDuringTheGrantIsTheOperators(t *testing.T) {
	c := newCourtroom(t)
	c.with("a", anna, 5, 100, 200, 300)
	c.deletedAt("a", 350, 420)
	c.with("b", bert, 9, 100, 430, 500)
	c.with("a", anna, 6, 400, 401, 450)
	c.found(map[string]int{})
	require.Equal(t, 1, c.tally().operator)
	c.deleted(1, 0)
}

// A fault that the delete does not explain is found as ever.
func TestDoubleHoldersOfOtherNodesAreFound(t *testing.T) {
	c := newCourtroom(t)
	c.deletedAt("a", 250, 260)
	c.with("b", anna, 5, 100, 200, 300)
	c.with("c", bert, 6, 150, 270, 400)
	c.found(map[string]int{doubleHolders: 1})
}

// Polls count when nothing has been broken for long enough, and the lock was free for long.
func TestPollsInTheCalmAreFound(t *testing.T) {
	c := newCourtroom(t)
	second := int64(c.session)
	late, token := false, int64(5)
	poll := func(since int64) {
		c.hear(report{Kind: kindAsk, From: anna, Call: since})
		at := since + 1
		if late {
			at = since + second + 1
		}
		token++
		c.hear(report{Kind: kindGrant, From: anna, Token: token, Call: since, At: at, Confirmed: at})
		c.hear(report{Kind: kindEnd, From: anna, Token: token, Confirmed: at, At: at})
		c.hear(report{Kind: kindPolls, From: anna, Count: 1, Call: since, At: since + 2*second})
	}
	begin := now()
	c.clock = func() int64 { return begin }
	poll(begin)
	c.calm(true)
	late = true
	poll(begin + 2*second)
	c.found(map[string]int{})
	late = false
	poll(begin + (calmSettle+1)*second)
	c.found(map[string]int{})
	late = true
	poll(begin + (calmSettle+4)*second)
	c.found(map[string]int{lostWakeUps: 1})
	c.calm(false)
	poll(begin + (calmSettle+8)*second)
	c.found(map[string]int{lostWakeUps: 1})
	require.Equal(t, 5, c.polls)
}

// A poll says nothing of wake-ups while the machine is held up, nor until it has settled again.
func TestPollsOfAMachineThatWasHeldUp(t *testing.T) {
	c := newCourtroom(t)
	second := int64(c.session)
	token := int64(5)
	poll := func(since int64) {
		token++
		at := since + second + 1
		c.hear(report{Kind: kindAsk, From: anna, Call: since})
		c.hear(report{Kind: kindGrant, From: anna, Token: token, Call: since, At: at, Confirmed: at})
		c.hear(report{Kind: kindEnd, From: anna, Token: token, Confirmed: at, At: at})
		c.hear(report{Kind: kindPolls, From: anna, Count: 1, Call: since, At: since + 2*second})
	}
	begin := now()
	at := begin
	c.clock = func() int64 { return at }
	c.calm(true)
	at = begin + (calmSettle+2)*second // nobody has looked for so long
	poll(begin + (calmSettle+1)*second)
	c.found(map[string]int{})
	c.stillCalm() // it finds out
	require.Equal(t, 1, c.heldUps)
	poll(begin + (calmSettle+4)*second)
	c.found(map[string]int{})
	at += int64(lookEvery)
	c.stillCalm()
	require.Equal(t, 1, c.heldUps)
	poll(begin + (2*calmSettle+3)*second)
	c.found(map[string]int{lostWakeUps: 1})
}

func TestTargetsOfTheOperator(t *testing.T) {
	c := newCourtroom(t)
	_, ok := c.target(0, false)
	require.False(t, ok)
	c.with("a", anna, 5, 100, 200, 300)
	g, ok := c.target(0, false)
	require.True(t, ok)
	require.Equal(t, "a", g.node)
	_, ok = c.target(0, true)
	require.False(t, ok)
	c.hear(report{Kind: kindGrant, From: bert, Node: "b", Token: 6, Call: 300, At: 310, Confirmed: 310})
	g, ok = c.target(0, true)
	require.True(t, ok)
	require.Equal(t, "b", g.node)
	_, ok = c.target(0, false)
	require.False(t, ok, "somebody holds")
}
