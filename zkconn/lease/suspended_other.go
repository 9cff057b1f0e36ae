//go:build !linux

package lease

import "time"

func systemSuspended() func(now time.Time) time.Duration { return wallSuspended() }
