package rig_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Once a crowd is silent its sessions expire, each with a line in the log, at the pace at which the log is read.
func TestACrowdExpiresAtTheLogsPace(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithLogOfExpiries())
	const sessions, lines, timeout = 150, 100, 2 * time.Second
	crowd, err := rig.OpenCrowd(t.Context(), []string{server.Addr()}, sessions, timeout)
	defer crowd.Leave()
	require.NoError(t, err)
	require.Equal(t, timeout, crowd.Timeout())
	server.SlowLog(lines)
	require.NoError(t, crowd.FallSilent())
	expiries := regexp.MustCompile(`(?m)^(\S+) .*Expiring session`)
	var logged [][]string
	scene.Eventually(t, func() bool {
		logged = expiries.FindAllStringSubmatch(server.Log(), -1)
		return len(logged) == sessions
	}, "all have expired")
	instant := func(line int) time.Time {
		at, err := time.Parse("15:04:05.000", logged[line][1])
		require.NoError(t, err)
		return at
	}
	took := (instant(sessions-1).Sub(instant(0)) + 24*time.Hour) % (24 * time.Hour)
	const unread = 75 // lines that a pipe of one page holds, and one piece of it, at most
	require.GreaterOrEqual(t, took, (sessions-unread)*time.Second/lines)
}
