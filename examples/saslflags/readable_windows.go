package saslflags

import "io/fs"

// othersCanRead cannot be told from a mode here.
func othersCanRead(fs.FileMode) bool { return false }
