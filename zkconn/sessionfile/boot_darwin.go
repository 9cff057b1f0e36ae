package sessionfile

import "golang.org/x/sys/unix"

// bootID is the kernel's name for its present run.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
