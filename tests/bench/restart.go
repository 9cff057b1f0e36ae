package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// restartTimeout is the session timeout of a holder that is killed.
const restartTimeout = 4 * time.Second

// restart measures the time from the start of a process, which was killed while it held a lock,
// until it holds again. Turnstile keeps its session in a file (locks.WithSessionFile); others wait
// until the session has expired.
var restart = workload{
	name: "restart", per: "holders that are killed and started again, session timeout 4 s", sizes: []int{1}, quick: []int{1},
	metrics: []metric{{"all", "ms", less}},
	peers:   []peer{{goZkLock, startAgain}, {ours, startAgain}},
}

func startAgain(ctx context.Context, t trial) (figures, error) {
	folder, err := os.MkdirTemp("", "turnstile-bench-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	spec := childSpec{Task: taskHold, Peer: t.peer, Connect: t.stage.connect(0), Path: t.path, Timeout: restartTimeout, Sessions: 1}
	if t.peer == ours {
		spec.File = filepath.Join(folder, "session")
	}
	found := figures{}
	for _, last := range []bool{false, true} {
		begin := time.Now()
		c, err := startChild(spec)
		if err != nil {
			return nil, err
		}
		defer func() { _ = c.kill() }()
		if err := c.expect(ctx, nil); err != nil {
			return nil, err
		}
		found["all"] = millis(time.Since(begin))
		if last {
			err = errors.Join(c.goOn(), c.end(ctx))
		} else {
			err = errors.Join(t.awaitQuiet(ctx), c.kill())
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// beHolder is the process that holds until it is killed.
func beHolder(ctx context.Context, spec childSpec, to *parent) error {
	sessions, end, err := spec.open(ctx, newSystem())
	defer end()
	if err != nil {
		return err
	}
	if _, err := sessions[0].lock(ctx, spec.Path); err != nil {
		return err
	}
	return errors.Join(to.tell("held"), to.await())
}
