package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// TestQueueShowsCohorts: how many grants a node may serve is shown where any serves several.
func TestQueueShowsCohorts(t *testing.T) {
	now := time.Unix(1000, 0)
	queue := []messages.Contender{
		{Path: "/x", Node: "a", Sequence: 1, Holds: true, Host: "h", PID: 7, Since: now.Add(-time.Minute), Cohort: 64},
		{Path: "/x", Node: "b", Sequence: 2, Host: "h", PID: 8, Since: now.Add(-time.Second)},
	}
	lines := queueLines("/x", queue, false, now, 200)
	require.Equal(t, "/x: 1 holds, 1 waits", lines[0])
	require.Regexp(t, `LABEL +COHORT$`, lines[2])
	require.Regexp(t, ` 64$`, lines[3])
	require.Regexp(t, ` 1$`, lines[4])
	require.Equal(t, 64, toJSON(queue[0]).Cohort)
	queue[0].Cohort = 0
	require.NotContains(t, queueLines("/x", queue, false, now, 200)[2], "COHORT")
}
