package simulation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// shardVariable tells a process that it is one of several: "1/4" is the second of four. A process tries one seed at a time, on
// one processor. So that all processors have something to do, the seeds are dealt out to as many processes of the test
// binary.
const shardVariable = "TURNSTILE_SIMULATION_SHARD"

// inShards has n seeds tried from first on. The first process that fails ends the others.
func inShards(t *testing.T, first, n uint64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failed string
	var once sync.Once
	var all sync.WaitGroup
	shards := max(1, min(uint64(runtime.NumCPU()), n)) // each has a seed
	for i := range shards {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSimulation$", fmt.Sprintf("-first=%d", first))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", shardVariable, i, shards),
			fmt.Sprintf("TURNSTILE_SIMULATION_SEEDS=%d", n))
		all.Go(func() {
			if output, err := cmd.CombinedOutput(); err != nil {
				once.Do(func() { failed = fmt.Sprintf("%v\n%s", err, output) })
				cancel()
			}
		})
	}
	all.Wait()
	require.Empty(t, failed)
}

// shard is which of how many processes this is; none means that it is the one that starts them.
func shard(t *testing.T) (number, of uint64, none bool) {
	t.Helper()
	text := os.Getenv(shardVariable)
	if text == "" {
		return 0, 1, true
	}
	_, err := fmt.Sscanf(text, "%d/%d", &number, &of)
	require.NoError(t, err, "%s=%q", shardVariable, text)
	return number, of, false
}
