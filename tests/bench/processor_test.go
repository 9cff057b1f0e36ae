package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Processor time is counted. That of servers is of their processes, with the workloads.
func TestProcessorTimeIsCounted(t *testing.T) {
	me, began := []int{os.Getpid()}, time.Now()
	before, err := processorOf(me)
	require.NoError(t, err)
	if before == 0 {
		t.Skip("not known on this system")
	}
	_, err = processorOf([]int{1 << 23})
	require.Error(t, err, "above what Linux gives")
	const busy = 20 * time.Millisecond
	used := time.Duration(0)
	for used < busy { // however long others have the machine
		after, err := processorOf(me)
		require.NoError(t, err)
		used = after - before
		require.Less(t, time.Since(began), time.Minute, "it used %v", used)
	}
	require.LessOrEqual(t, used, time.Since(began)*time.Duration(runtime.NumCPU()), "no more than there was")
}
