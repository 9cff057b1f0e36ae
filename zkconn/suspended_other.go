//go:build !linux

package zkconn

import "time"

// systemSuspended makes a function that gives for how long the machine has been suspended since.
func systemSuspended() func(now time.Time) time.Duration { return wallSuspended() }
