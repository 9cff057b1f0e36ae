package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// courtroom is a judge with one lock.
type courtroom struct{ *judge }

func newCourtroom() courtroom { return courtroom{newJudge(1, func(string, string) {})} }

var anna, bert, carl, dora = holder{Client: 0}, holder{Client: 1}, holder{Client: 2}, holder{Client: 3}

func (c courtroom) grant(who holder, token, call, at int64) {
	c.hear(report{Kind: kindAsk, From: who, Call: call})
	c.hear(report{Kind: kindGrant, From: who, Token: token, Call: call, At: at, Confirmed: at})
}

func (c courtroom) write(who holder, token int64) {
	c.hear(report{Kind: kindWrite, From: who, Token: token})
}

func (c courtroom) end(who holder, token, confirmed int64) {
	c.hear(report{Kind: kindEnd, From: who, Token: token, Confirmed: confirmed, At: confirmed + 1})
}

// as is a hold in a mode.
func (c courtroom) as(m mode, who holder, token, at, end int64) {
	c.hear(report{Kind: kindGrant, From: who, Mode: m, Token: token, Call: at - 10, At: at, Confirmed: at})
	c.end(who, token, end)
}

// found requires exactly these violations.
func (c courtroom) found(t *testing.T, want map[string]int) {
	t.Helper()
	_, wrong := c.result()
	for kind := range wrong {
		require.Equal(t, want[kind], wrong[kind], kind)
	}
}

// TestHolds: what holds of one lock may be like, and what they may not.
func TestHolds(t *testing.T) {
	later := now() + int64(time.Hour)
	for name, c := range map[string]struct {
		play func(c courtroom)
		want map[string]int
	}{
		"one after the other": {func(c courtroom) {
			c.grant(anna, 5, 100, 200)
			c.write(anna, 5)
			c.end(anna, 5, 300)
			c.grant(bert, 6, 150, 310)
			c.write(bert, 6)
			c.end(bert, 6, 400)
		}, nil},
		// A lease that is found over only later, because its process stood still, overlaps nobody's.
		"a paused holder": {func(c courtroom) {
			c.grant(anna, 5, 100, 200)
			c.grant(bert, 6, 150, 900)
			c.write(bert, 6)
			c.end(anna, 5, 800)
			c.write(anna, 5)
			c.end(bert, 6, 950)
		}, nil},
		// However long it lasts, and whoever held in between.
		"a holder beside three others": {func(c courtroom) {
			c.grant(anna, 5, 100, 200)
			c.as(exclusive, bert, 6, 300, 340)
			c.as(exclusive, carl, 7, 350, 450)
			c.as(exclusive, dora, 8, 460, 470)
			c.end(anna, 5, 465)
		}, map[string]int{doubleHolders: 3}},
		"a holder beside one that was killed": {func(c courtroom) {
			c.grant(anna, 5, 100, 200)
			c.hear(report{Kind: kindWrite, From: anna, Token: 5, Confirmed: 320})
			c.gone(anna.Client, 0)
			c.as(exclusive, bert, 6, 310, 340)
		}, map[string]int{doubleHolders: 1}},
		"a holder beside a grant that was over when Lock returned": {func(c courtroom) {
			c.as(exclusive, anna, 5, 200, 300)
			c.hear(report{Kind: kindGrant, From: bert, Token: 6, Call: 150, At: 250})
			c.end(bert, 6, 0)
		}, map[string]int{doubleHolders: 1}},
		"a grant that was over when Lock returned, late": {func(c courtroom) {
			c.as(exclusive, bert, 6, 200, 300)
			c.hear(report{Kind: kindGrant, From: anna, Token: 5, Call: 150, At: 400})
			c.end(anna, 5, 0)
		}, nil},
		"the same of one that was asked for after the other": {func(c courtroom) {
			c.as(exclusive, bert, 6, 200, 300)
			c.hear(report{Kind: kindGrant, From: anna, Token: 5, Call: 310, At: 400})
			c.end(anna, 5, 0)
		}, map[string]int{badTokens: 1}},
		"a smaller token": {func(c courtroom) {
			c.as(exclusive, anna, 5, 200, 300)
			c.as(exclusive, bert, 4, 305, 310)
		}, map[string]int{badTokens: 1}},
		"the same token": {func(c courtroom) {
			c.as(exclusive, anna, 5, 200, 300)
			c.as(exclusive, bert, 5, 310, 320)
		}, map[string]int{badTokens: 1}},
		"a valid holder that is refused": {func(c courtroom) {
			c.hear(report{Kind: kindGrant, From: bert, Token: 6, Call: 100, At: 200}) // over when Lock returned; but it writes
			c.write(bert, 6)
			c.grant(anna, 5, 100, 210)
			c.write(anna, 5)
			c.end(anna, 5, later)
		}, map[string]int{validRefused: 1}},
		"readers": {func(c courtroom) {
			c.as(reading, anna, 6, 200, 300)
			c.as(reading, bert, 5, 210, 310) // they have no order among themselves
		}, nil},
		"readers and a writer": {func(c courtroom) {
			c.as(reading, anna, 6, 200, 300)
			c.as(reading, bert, 5, 210, 310)
			c.as(exclusive, carl, 7, 305, 320)
		}, map[string]int{doubleHolders: 1}},
		"two permits": {func(c courtroom) {
			c.as(permit, anna, 5, 200, 300)
			c.as(permit, bert, 6, 210, 250)
			c.as(permit, carl, 7, 260, 400)
		}, nil},
		"a third permit": {func(c courtroom) {
			c.as(permit, anna, 5, 200, 300)
			c.as(permit, carl, 7, 260, 400)
			c.as(permit, dora, 8, 270, 390)
			c.as(permit, bert, 9, 410, 420)
		}, map[string]int{doubleHolders: 1}},
		"a permit that was there too long, and is heard of last": {func(c courtroom) {
			c.hear(report{Kind: kindGrant, From: anna, Mode: permit, Token: 5, Call: 190, At: 200, Confirmed: 200})
			c.as(permit, bert, 6, 210, 400)
			c.as(permit, carl, 7, 260, 400)
			c.end(anna, 5, 300)
		}, map[string]int{doubleHolders: 1}},
		"a request that failed, and one whose caller gave up": {func(c courtroom) {
			c.hear(report{Kind: kindFailed, From: anna})
			c.hear(report{Kind: kindGaveUp, From: bert})
		}, map[string]int{failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			court := newCourtroom()
			c.play(court)
			court.found(t, c.want)
		})
	}
}

// TestLateWritesAreCounted: those of a holder that had lost the lock, before it knew and after.
func TestLateWritesAreCounted(t *testing.T) {
	c := newCourtroom()
	c.grant(anna, 5, 100, 200)
	c.as(exclusive, bert, 6, 310, 320)
	c.write(bert, 6)
	c.write(anna, 5)
	c.end(anna, 5, 300)
	c.write(anna, 5)
	counts, _ := c.result()
	require.Equal(t, 2, counts[lateRefused])
	c.found(t, nil)
}

// TestServersThatDifferAreNotTheLibrary: what is found after they did is counted apart.
func TestServersThatDifferAreNotTheLibrary(t *testing.T) {
	c := newCourtroom()
	c.accuse(orphans, "it")
	since := time.Now()
	c.accuse(orphans, "it")
	c.taint(since)
	c.found(t, map[string]int{orphans: 1})
	counts, _ := c.result()
	require.Equal(t, 1, counts[tainted])
}

// TestOvertaken: one is overtaken by a request that came later, has waited, and has waited for nobody else.
func TestOvertaken(t *testing.T) {
	const second = int64(time.Second)
	for name, c := range map[string]struct {
		call, at, heldUntil int64
		overtaken           bool
	}{
		"asked later and waited":     {11 * second, 14 * second, 9 * second, true},
		"asked earlier":              {9 * second, 14 * second, 9 * second, false},
		"did not wait":               {13 * second, 13*second + 1, 9 * second, false},
		"waited for somebody else's": {11 * second, 14 * second, 13 * second, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := newCourtroom()
			happened, forget := j.await(overtakes(anna.Client))
			_, never := j.await(grantedTo(dora.Client))
			j.grant(carl, 1, 0, 1)
			j.end(carl, 1, c.heldUntil)
			j.hear(report{Kind: kindAsk, From: anna, Call: 10 * second})
			j.grant(bert, 6, c.call, c.at)
			select {
			case <-happened:
				require.True(t, c.overtaken)
			default:
				require.False(t, c.overtaken)
			}
			forget()
			never()
			require.Empty(t, j.events)
		})
	}
}

// TestWhatGrowsIsFound: figures that rise and fall, rise once, or rise while a process is young do not grow.
func TestWhatGrowsIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		objects [][]int // of each process, look by look
		grows   int
	}{
		"a leak in each process":         {[][]int{{9_000, 20_000, 21_000, 22_000}, {9_000, 19_000, 20_100}}, 1},
		"a leak beside noise":            {[][]int{{9_000, 20_000, 21_500, 21_400, 23_000, 24_700}}, 1},
		"noise":                          {[][]int{{9_000, 20_000, 26_000, 19_000, 20_100}, {9_000, 20_000, 20_200}}, 0},
		"a step":                         {[][]int{{9_000, 20_000, 20_010, 29_000, 29_020, 29_010}}, 0},
		"processes that are young":       {[][]int{{9_000, 20_000}, {9_000, 20_000}, {9_000, 20_000}, {9_000, 20_000}}, 0},
		"less than the bound":            {[][]int{{9_000, 20_000, 20_200, 20_400, 20_600, 20_800}}, 0},
		"too few differences to judge":   {[][]int{{9_000, 20_000, 21_000, 22_000}}, 0},
		"one process that leaks of four": {[][]int{{0, 9, 9_000, 18_000}, {0, 9, 9, 9}, {0, 9, 9, 9}, {0, 9, 9, 9}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			court := newCourtroom()
			for n, looks := range c.objects {
				for _, objects := range looks {
					court.rested(holder{Client: n}, map[string]int{restObjects: objects, restActors: 7})
				}
			}
			court.judgeGrowth()
			court.found(t, map[string]int{grows: c.grows})
		})
	}
}
