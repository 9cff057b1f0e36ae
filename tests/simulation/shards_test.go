package simulation

import (
	"bytes"
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

// inShards has n seeds tried from first on, and gives what was counted.
func inShards(t *testing.T, first, n uint64) *tally {
	t.Helper()
	shards := uint64(runtime.NumCPU())
	var all sync.WaitGroup
	counts, outputs, errs := make([]tally, shards), make([]bytes.Buffer, shards), make([]error, shards)
	for i := range shards {
		file := filepath.Join(t.TempDir(), "tally")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSimulation$", fmt.Sprintf("-first=%d", first))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", shardVariable, i, shards), shardFile+"="+file,
			fmt.Sprintf("TURNSTILE_SIMULATION_SEEDS=%d", n))
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		all.Go(func() {
			if errs[i] = cmd.Run(); errs[i] == nil {
				errs[i] = counts[i].load(file)
			}
		})
	}
	all.Wait()
	sum := newTally()
	for i := range shards {
		require.NoError(t, errs[i], "%s", outputs[i].String())
		sum.add(counts[i])
	}
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

func (t *tally) load(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, t)
}

// save writes the tally for the process that started this one.
func (t *tally) save() error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(os.Getenv(shardFile), b, 0o600)
}
