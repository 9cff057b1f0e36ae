package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Processor time is counted. That of servers is of their processes, with the workloads.
func TestProcessorTimeIsCounted(t *testing.T) {
	me := []int{os.Getpid()}
	before, err := processorOf(me)
	require.NoError(t, err)
	if before == 0 {
		t.Skip("not known on this system")
	}
	_, err = processorOf([]int{1 << 23})
	require.Error(t, err, "above what Linux gives")
	for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; { // busy
	}
	after, err := processorOf(me)
	require.NoError(t, err)
	require.Greater(t, after-before, time.Millisecond, "20 ms, less what others took of the machine")
}
