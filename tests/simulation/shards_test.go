package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process tries one seed at a time, on one processor. So that all processors have something to do, the seeds
// are dealt out to as many processes of the test binary.

// shardVariable tells a process that it is one of them, and shardFile where its tally goes.
const (
	shardVariable = "TURNSTILE_SIMULATION_SHARD" // "1/4": the second of four
	shardFile     = "TURNSTILE_SIMULATION_TALLY"
)

// inShards has n seeds tried from first on, and gives what was counted. The first process that fails ends the
// others.
func inShards(t *testing.T, first, n uint64) *tally {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sum, failed := newTally(), ""
	var mu sync.Mutex
	var all sync.WaitGroup
	shards := runtime.NumCPU()
	for i := range shards {
		file := filepath.Join(t.TempDir(), "tally")
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSimulation$", fmt.Sprintf("-first=%d", first))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", shardVariable, i, shards), shardFile+"="+file,
			fmt.Sprintf("TURNSTILE_SIMULATION_SEEDS=%d", n))
		all.Go(func() {
			output, err := cmd.CombinedOutput()
			count, loadErr := loadTally(file)
			mu.Lock()
			defer mu.Unlock()
			if err = cmp.Or(err, loadErr); err != nil && failed == "" {
				failed = fmt.Sprintf("%v, at seed %d\n%s", err, count.Seed, output)
				cancel()
			}
			sum.add(count)
		})
	}
	all.Wait()
	require.Empty(t, failed)
	return sum
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

func loadTally(file string) (count tally, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &count)
	}
	return count, err
}

// save writes the tally for the process that started this one.
func (t *tally) save() error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(os.Getenv(shardFile), b, 0o600)
}
