package rig

import (
	"context"
	"time"
)

// Rest waits for d; it returns false when ctx ends first.
func Rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Silent is a logger for go-zookeeper that does not log.
type Silent struct{}

// Printf does nothing.
func (Silent) Printf(string, ...any) {}
