//go:build !windows

package saslflags

import "io/fs"

// othersCanRead tells whether anybody but the owner can.
func othersCanRead(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }
