//go:build !windows

package saslflags

import "io/fs"

// othersCanRead reports whether anybody but the owner can read a file.
func othersCanRead(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }
