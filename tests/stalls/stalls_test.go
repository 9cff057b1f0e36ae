package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// said is a writer that logs to the test.
type said struct{ t *testing.T }

func (s said) Write(p []byte) (int, error) {
	s.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// attacked plays one scenario, and gives its result. Tokens are in order, no waiter found a change by listing again,
// and both the holders under attack and other clients were granted locks.
func attacked(t *testing.T, scenario string, args ...string) *result {
	t.Helper()
	rig.Require(t)
	o, err := parse(append([]string{"-scenario", scenario, "-v"}, args...), said{t})
	require.NoError(t, err)
	found, err := attack(context.Background(), o, said{t})
	require.NoError(t, err)
	require.NoError(t, show(said{t}, false, found))
	require.Len(t, found, 1)
	require.Zero(t, found[0].Disorder)
	require.Zero(t, found[0].Relisted, "found by listing again what no event had told")
	require.NotZero(t, found[0].Granted)
	require.NotZero(t, found[0].Others)
	return found[0]
}

// The stall that broke the rule of 0.4 T from a transaction in each run, on two
// links: sessions that were idle at a follower ask for locks while the leader's
// pings do not reach it. No two leases are valid at once, and the locks are granted.
func TestNoOverlapWhileALinkStalls(t *testing.T) {
	require.Zero(t, attacked(t, "down-idle", "-trials", "80", "-width", "40", "-ask", "0.45-0.7").Overlaps)
}

// Many sessions expire at one instant, and the server's log is slow. Clients that reconnect
// meanwhile are renewed and ended all the same. No two leases are valid at once, and each lock is
// granted. Mistake ChainUnbroken makes each of these fail. At the leader, which serves the
// reconnects as well, it strikes in one trial of ten to sixty, so there are more of them.
func TestNoOverlapWhenManySessionsExpire(t *testing.T) {
	for scenario, trials := range map[string]string{"masses-one": "40", "masses-three": "40", "masses-leader": "120"} {
		t.Run(scenario, func(t *testing.T) {
			found := attacked(t, scenario, "-trials", trials, "-width", "40")
			require.Zero(t, found.Overlaps)
			require.Zero(t, found.Never)
		})
	}
}

// The session of a holder is closed at its follower while it connects there again. In some trials the
// connection stays, and the servers refuse in a part of each heartbeat that the session is over. No
// lease is renewed by that. Mistake PartsUnread makes this fail.
func TestNoLeaseOfASessionEndedElsewhere(t *testing.T) {
	found := attacked(t, "ended-elsewhere", "-trials", "20", "-width", "20")
	require.Zero(t, found.Overlaps, "longer than a session timeout")
}

// Somebody else breaks the node of a holder, or closes its session, through another server or through its own. The next
// holds beside it until it hears of that, and never for longer than a session timeout. LIMITS says for how long.
func TestHoldersHearThatTheirLockIsTaken(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-scenario", "broken,closed", "-trials", "4", "-v"}, said{t})
	require.NoError(t, err)
	found, err := attack(context.Background(), o, said{t})
	require.NoError(t, err)
	require.NoError(t, show(said{t}, false, found))
	require.Len(t, found, 4)
	for _, r := range found {
		require.Zero(t, r.Overlaps, "%s: longer than a session timeout", r.Scenario)
		require.Zero(t, r.Disorder, r.Scenario)
		require.Zero(t, r.Relisted, "%s: found by listing again what no event had told", r.Scenario)
		require.GreaterOrEqual(t, r.Others, 4, "%s: each lock was taken away, and granted to the next", r.Scenario)
	}
}

func TestOptions(t *testing.T) {
	o, err := parse([]string{"-scenario", "down,kill"}, said{t})
	require.NoError(t, err)
	require.Len(t, o.scenarios, 4)
	for _, wrong := range [][]string{
		{"-scenario", "flood"}, {"-scenario", "down-idle,down-idle"}, {"-trials", "0"}, {"-width", "0"}, {"more"},
		{"-tick", "2s", "-timeout", "3s"}, {"-tick", "1ms"}, {"-ask", "late"}, {"-ask", "0.9-0.2"}, {"-none"},
		{"-sessions", "0"}, {"-lines", "0"},
		{"-scenario", "help"},
	} {
		_, err := parse(wrong, said{t})
		require.Error(t, err, "%v", wrong)
	}
}

func TestExitStatus(t *testing.T) {
	require.Equal(t, 2, run([]string{"-scenario", "flood"}, said{t}, said{t}))
	require.Zero(t, run([]string{"-h"}, said{t}, said{t}))
	require.True(t, (&result{Lost: 1, TooLate: 1}).clean())
	require.False(t, (&result{Overlaps: 1}).clean())
	require.False(t, (&result{Disorder: 1}).clean())
	require.False(t, (&result{Never: 1}).clean())
	require.False(t, (&result{Relisted: 1}).clean())
}
