package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Findings that a wipe explains are counted apart, and all that follows after the spell around it as ever: two
// holders inside it, and two after it; a token that is smaller than one of before; a resource that has seen a greater
// one.
func TestWipesAreJudgedApart(t *testing.T) {
	c := newCourtroom(t)
	c.grant(anna, 50, 100, 200, 201)
	require.True(t, c.write(anna, 50, 210))
	c.wiping(true)
	c.wiped()
	c.back(3 * time.Second)
	c.back(2 * time.Second)
	c.grant(bert, 3, 220, 230, 231)
	c.end(anna, 50, 300)
	require.False(t, c.write(bert, 3, 310))
	c.hear(report{Kind: kindRecheck, From: bert, Token: 3, Confirmed: 311})
	c.end(bert, 3, 320)
	c.found(map[string]int{})
	c.wiping(false)
	found := c.result(options{}, time.Second)
	require.Equal(t, 1, found.Wipes)
	require.Equal(t, 1, found.WipedDoubles)
	require.InDelta(t, 70e-6, found.WipedMost, 1e-9) // of valid leases, from 230 to 300 ns
	require.Equal(t, 2, found.WipedGrants)
	require.InDelta(t, 3, found.BackAfterWipe, 1e-9)
	require.True(t, found.clean())

	c.grant(anna, 4, 400, 410, 411)
	require.True(t, c.write(anna, 4, 420), "the resource has begun anew")
	c.grant(bert, 5, 400, 430, 431)
	c.end(anna, 4, 440)
	c.end(bert, 5, 450)
	c.found(map[string]int{doubleHolders: 1})
}

// In a spell around a wipe requests end, nothing is left, and clients come back.
func TestAWipeDoesNotExcuseAll(t *testing.T) {
	c := newCourtroom(t)
	c.wiping(true)
	c.hear(report{Kind: kindHung, From: anna, Op: "lock", Call: 1, At: 2})
	s := stage{judge: c.judge}
	s.accuse(notBack, "client 0")
	s.accuse(orphans, "/soak/lock-0/x")
	c.found(map[string]int{neverEnded: 1, notBack: 1, orphans: 1})
}
