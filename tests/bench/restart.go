package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// restart measures the time from the start of a process, which was killed while it held a lock,
// until it holds again. Turnstile keeps its session in a file (locks.WithSessionFile); others wait
// until the session has expired.
var restart = workload{
	name: "restart", per: "holders that are killed and started again, session timeout 4 s", sizes: []int{1}, quick: []int{1},
	metrics: []metric{
		{"restart", "ms", less, "From the start of a new process until it holds what the killed one held, timeout 4 s"},
		{"restart-running", "ms", less, "From the first line that the new process runs until it holds, timeout 4 s"},
	},
	library: func(ctx context.Context, t trial, _ opener) (figures, error) {
		folder, err := os.MkdirTemp("", "turnstile-bench-")
		if err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		spec := childSpec{Task: taskHold, Peer: t.peer, Connect: t.stage.connect(0), Path: t.path, Timeout: failoverTimeout}
		if t.peer == ours {
			spec.File = filepath.Join(folder, "session")
		}
		if err := t.holdAndDie(ctx, spec); err != nil {
			return nil, err
		}
		begin := time.Now()
		again, err := startChild(spec)
		if err != nil {
			return nil, err
		}
		defer func() { _ = again.kill() }()
		if err := again.expect(ctx, nil); err != nil {
			return nil, err
		}
		runs := time.Now()
		if err := again.expect(ctx, nil); err != nil {
			return nil, err
		}
		holds := time.Now()
		found := figures{"restart": millis(holds.Sub(begin)), "restart-running": millis(holds.Sub(runs))}
		return found, errors.Join(again.goOn(), again.end(ctx))
	},
}

// holdAndDie runs a process that takes a lock, and kills it.
func (t trial) holdAndDie(ctx context.Context, spec childSpec) error {
	c, err := startChild(spec)
	if err != nil {
		return err
	}
	err = c.held(ctx)
	if err == nil {
		err = t.awaitQuiet(ctx)
	}
	return errors.Join(err, c.kill())
}
