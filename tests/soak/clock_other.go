//go:build !linux

package main

import "time"

// now is an instant in nanoseconds. Where there is no monotonic clock common to all processes, it is
// the wall clock: then nobody may set it during a run.
func now() int64 { return time.Now().UnixNano() }
