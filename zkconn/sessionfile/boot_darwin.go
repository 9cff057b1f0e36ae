package sessionfile

import "golang.org/x/sys/unix"

// bootID is what the kernel calls its present run.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
