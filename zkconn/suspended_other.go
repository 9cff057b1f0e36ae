//go:build !linux

package zkconn

import "time"

func systemSuspended() func(now time.Time) time.Duration { return wallSuspended() }
