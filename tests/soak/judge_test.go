package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/journal"
)

// courtroom is a judge with one lock, and the violations that it found.
type courtroom struct {
	*judge
	t *testing.T
}

func newCourtroom(t *testing.T) courtroom {
	return courtroom{newJudge(1, time.Second, func(string, string) {}), t}
}

var anna, bert = holder{Client: 0, Worker: 1}, holder{Client: 1, Worker: 1}

func (c courtroom) grant(who holder, token, call, at, confirmed int64) {
	c.hear(report{Kind: kindAsk, From: who, Call: call})
	c.hear(report{Kind: kindGrant, From: who, Token: token, Call: call, At: at, Confirmed: confirmed})
}

func (c courtroom) write(who holder, token, confirmed int64) bool {
	return c.hear(report{Kind: kindWrite, From: who, Token: token, Call: confirmed, Confirmed: confirmed}).OK
}

func (c courtroom) end(who holder, token, confirmed int64) {
	c.hear(report{Kind: kindEnd, From: who, Token: token, Confirmed: confirmed, At: confirmed + 1})
	c.hear(report{Kind: kindUnlocked, From: who, Token: token, At: confirmed + 2})
}

// found requires exactly these violations.
func (c courtroom) found(want map[string]int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Equal(c.t, want, c.tally().wrong)
}

func TestHoldsOneAfterTheOther(t *testing.T) {
	c := newCourtroom(t)
	c.grant(anna, 5, 100, 200, 201)
	require.True(t, c.write(anna, 5, 250))
	c.end(anna, 5, 300)
	c.grant(bert, 6, 150, 310, 311)
	require.True(t, c.write(bert, 6, 320))
	c.end(bert, 6, 400)
	c.found(map[string]int{})
}

// A lease that is found over only later, because its process stood still, overlaps nobody's.
func TestPausedHolderIsNoDoubleHolder(t *testing.T) {
	c := newCourtroom(t)
	c.grant(anna, 5, 100, 200, 201)
	c.grant(bert, 6, 150, 900, 901)
	require.True(t, c.write(bert, 6, 910))
	c.hear(report{Kind: kindEnd, From: anna, Token: 5, Confirmed: 800, At: 1000, Told: true})
	require.False(t, c.write(anna, 5, 800))
	c.hear(report{Kind: kindRecheck, From: anna, Token: 5})
	c.found(map[string]int{})
	require.Equal(t, 1, c.late)
	require.Equal(t, 1, c.told)
}

func TestTokensOutOfOrderAreFound(t *testing.T) {
	for name, token := range map[string]int64{"smaller": 4, "the same": 5} {
		t.Run(name, func(t *testing.T) {
			c := newCourtroom(t)
			c.grant(anna, 5, 100, 200, 201)
			c.end(anna, 5, 300)
			c.grant(bert, token, 150, 310, 311)
			c.found(map[string]int{badTokens: 1})
		})
	}
}

func TestRefusedWhileValidIsFound(t *testing.T) {
	c := newCourtroom(t)
	c.grant(bert, 6, 100, 200, 0) // over when Lock returned; but it writes
	require.True(t, c.write(bert, 6, 0))
	c.grant(anna, 5, 100, 210, 211)
	require.False(t, c.write(anna, 5, 220))
	c.hear(report{Kind: kindRecheck, From: anna, Token: 5, Confirmed: 230})
	c.found(map[string]int{validRefused: 1})
}

func TestHungRequestsAreCounted(t *testing.T) {
	c := newCourtroom(t)
	c.hear(report{Kind: kindHung, From: anna, Op: "lock"})
	c.found(map[string]int{neverEnded: 1})
}

// Nobody waits for a client that is gone, and what it held has ended with the last that it said.
func TestClientThatIsGone(t *testing.T) {
	c := newCourtroom(t)
	c.hear(report{Kind: kindAsk, From: anna, Call: 90})
	c.grant(bert, 5, 100, 200, 250)
	c.gone(anna)
	c.gone(bert)
	require.Empty(t, c.locks[0].waiting)
	require.True(t, c.locks[0].grants[0].closed)
	require.Len(t, c.locks[0].takeSettled(251), 1)
}

// Of the nodes that are left, as many as requests are stuck on that lock are theirs: the newest.
func TestOrphansAreNotStuckRequests(t *testing.T) {
	j := newJudge(2, time.Second, func(string, string) {})
	j.hear(report{Kind: kindHung, From: anna, Lock: 1, Op: "lock"})
	left := []string{lockPath(0) + "/b-lock-0000000007", lockPath(1) + "/a-lock-0000000009", lockPath(1) + "/b-lock-0000000003"}
	require.Equal(t, []string{left[0], left[2]}, j.unclaimed(left))
	require.ElementsMatch(t, left, j.unclaimed(left), "asked again, nothing is stuck any more")
}

// Findings from after the servers have found their trees different are counted apart, and the ensemble
// is over.
func TestServersThatDifferAreNotTheLibrary(t *testing.T) {
	c := newCourtroom(t)
	over := 0
	c.differed = func() { over++ }
	c.grant(anna, 5, 100, 200, 400)
	c.grant(bert, 6, 100, 300, 350)
	c.found(map[string]int{doubleHolders: 1})
	c.differ(time.Now())
	require.Equal(t, 1, over)
	c.grant(bert, 3, 400, 500, 550)
	c.found(map[string]int{doubleHolders: 1})
	require.Positive(t, c.tally().tainted)
}

// TestCommitsAreJudged: entries of holders that had lost the lock, and of which the wrong thing was told, are counted
// as what they are; what nobody knows may be there or not.
func TestCommitsAreJudged(t *testing.T) {
	j := newJudge(2, time.Second, func(string, string) {})
	commit := func(lock int, entry string, told journal.Outcome, err string) {
		j.hear(report{Kind: kindCommit, Lock: lock, Detail: entry})
		j.hear(report{Kind: kindCommitted, Lock: lock, Detail: entry, Op: "commit", Count: int(told), Error: err})
	}
	commit(0, "1 a", journal.Committed, "")
	commit(0, "2 b", journal.Committed, "")
	commit(0, "1 c", journal.Refused, "lost")
	commit(1, "1 d", journal.Unknown, "unknown")
	j.hear(report{Kind: kindCommit, Lock: 1, Detail: "1 e"}) // its process was killed then
	require.Empty(t, j.locks[0].journal.Judge([]string{"1 a", "2 b"}))
	require.Empty(t, j.locks[1].journal.Judge([]string{"1 e"}))
	require.Empty(t, j.locks[1].journal.Judge([]string{"1 d"}))
	r := j.result(options{}, time.Second)
	require.Equal(t, []int{2, 1, 1}, []int{r.Commits, r.CommitsRefused, r.CommitsUnknown})
	require.Equal(t, 1, r.Errors["commit: lost"])

	commit(0, "1 late", journal.Committed, "")
	for _, wrong := range j.locks[0].journal.Judge([]string{"1 late"}) {
		j.violation(string(wrong.Kind), "%s", wrong.Text)
	}
	r = j.result(options{}, time.Second)
	require.Equal(t, 1, r.Wrong[staleCommits])
	require.Zero(t, r.Wrong[mistoldCommits])
	require.False(t, r.clean())
}

// Findings between a server's line on its tree and the look at its log do not accuse the library.
func TestFindingsBetweenTheLineAndTheLook(t *testing.T) {
	c := newCourtroom(t)
	find := func() { c.mu.Lock(); defer c.mu.Unlock(); c.violation(staleCommits, "it") }
	find()
	line := time.Now()
	find()
	c.differ(line)
	find()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.tally()
	require.Equal(t, 1, found.wrong[staleCommits])
	require.Equal(t, 2, found.tainted)
}

func TestLoggedAt(t *testing.T) {
	now := time.Date(2026, 11, 26, 0, 0, 1, 0, time.UTC)
	for line, before := range map[string]time.Duration{
		"00:00:00.500 [main] it":   500 * time.Millisecond,
		"23:59:59.000 [main] it":   2 * time.Second, // of yesterday
		"12:00:00.000 [main] it":   0,               // it is too long ago
		"2026-11-26 00:00:00.5 it": 0,
	} {
		require.Equal(t, now.Add(-before), loggedAt(line, now), line)
	}
}
