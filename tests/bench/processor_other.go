//go:build !linux

package main

import (
	"errors"
	"fmt"
	"time"
)

// processorOf sums what processes have used, on Linux.
func processorOf(pids []int) (time.Duration, error) {
	if len(pids) == 0 {
		return 0, nil
	}
	return 0, fmt.Errorf("bench: processor time: %w", errors.ErrUnsupported)
}
