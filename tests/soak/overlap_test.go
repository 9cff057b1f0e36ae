package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var carl, dora = holder{Client: 2, Worker: 1}, holder{Client: 3, Worker: 1}

// as is grant for other modes than exclusive.
func (c courtroom) as(m mode, who holder, token, at, end int64) {
	c.hear(report{Kind: kindAsk, From: who, Call: at - 10})
	c.hear(report{Kind: kindGrant, From: who, Mode: m, Token: token, Call: at - 10, At: at, Confirmed: at})
	c.hear(report{Kind: kindEnd, From: who, Token: token, Confirmed: end, At: end})
}

func (c courtroom) longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.tally().longest)
}

// However many reports show that two held at once, they are one pair; its overlap grows with what is known.
func TestDoubleHoldersAreFoundOnce(t *testing.T) {
	c := newCourtroom(t)
	c.grant(anna, 5, 100, 200, 201)
	c.grant(bert, 6, 150, 210, 211)
	c.found(map[string]int{})
	c.write(bert, 6, 230)
	c.write(anna, 5, 220) // valid at 220, and so was the other
	require.EqualValues(t, 10, c.longest())
	c.end(anna, 5, 300)
	c.end(bert, 6, 290)
	c.found(map[string]int{doubleHolders: 1})
	require.EqualValues(t, 80, c.longest())
}

// A hold that lasts too long overlaps every grant meanwhile, also when others held in between.
func TestEveryPairOfHoldersIsCompared(t *testing.T) {
	c := newCourtroom(t)
	c.grant(anna, 5, 100, 200, 201)
	c.grant(bert, 6, 100, 300, 301)
	c.end(bert, 6, 340)
	c.grant(carl, 7, 100, 350, 351)
	c.end(carl, 7, 450)
	c.grant(dora, 8, 100, 460, 461)
	c.end(dora, 8, 470)
	c.found(map[string]int{})
	c.end(anna, 5, 465)
	c.found(map[string]int{doubleHolders: 3})
	require.EqualValues(t, 100, c.longest())
}

func TestReadersHoldTogetherAndNotWithAWriter(t *testing.T) {
	c := newCourtroom(t)
	c.as(reading, anna, 6, 200, 300)
	c.as(reading, bert, 5, 210, 310) // readers have no order among themselves
	c.found(map[string]int{})
	c.as(exclusive, carl, 7, 305, 320)
	c.found(map[string]int{doubleHolders: 1})
	require.EqualValues(t, 5, c.longest())
}

// Of a semaphore with two permits a third one is too many for as long as two of the others are valid.
func TestPermitsAreCounted(t *testing.T) {
	c := newCourtroom(t)
	c.as(permit, anna, 5, 200, 300)
	c.as(permit, bert, 6, 210, 250)
	c.as(permit, carl, 7, 260, 400)
	c.found(map[string]int{})
	c.as(permit, dora, 8, 270, 390)
	c.found(map[string]int{doubleHolders: 1})
	require.EqualValues(t, 30, c.longest())
}

// It is found also when the one that was there too long is heard of last.
func TestPermitsAreCountedInAnyOrder(t *testing.T) {
	c := newCourtroom(t)
	c.hear(report{Kind: kindGrant, From: anna, Mode: permit, Token: 5, Call: 190, At: 200, Confirmed: 200})
	c.as(permit, bert, 6, 210, 400)
	c.as(permit, carl, 7, 260, 400)
	c.found(map[string]int{})
	c.hear(report{Kind: kindEnd, From: anna, Token: 5, Confirmed: 300, At: 300})
	c.found(map[string]int{doubleHolders: 1})
	require.EqualValues(t, 40, c.longest())
}
