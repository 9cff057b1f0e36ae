package sessionfile

import "golang.org/x/sys/unix"

func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
