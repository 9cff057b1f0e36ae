package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Processor time is counted for the clients' and for the servers' processes.
func TestRealProcessorTimeIsCounted(t *testing.T) {
	rig.Require(t)
	s, err := raise(t.Context(), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.strike()) })
	clocks := trial{stage: s}.clocks()
	if len(clocks.clients) == 0 {
		t.Skip("not known on this system")
	}
	before, err := clocks.read()
	require.NoError(t, err)
	_, err = processorOf([]int{1 << 23})
	require.Error(t, err, "above what Linux gives")
	for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; { // busy
	}
	for range 100 {
		_, _, err := s.monitor.Exists("/")
		require.NoError(t, err)
	}
	used, err := clocks.since(before, 10)
	require.NoError(t, err)
	found := figures{}
	used.put(found, "x")
	require.Greater(t, found["x-client-cpu"], 100.0, "µs: 20 ms over 10, less what others took of the machine")
	require.Less(t, found["x-client-cpu"], 1e7)
	require.Positive(t, found["x-server-cpu"])
}
